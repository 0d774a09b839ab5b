#if !WITHOUT_CONCURRENCY

import FileObservation
import SystemCalls

// Left out of the program of a release, like the streams of an observer.
extension Command {
  /// Runs the command once, and waits until nothing of it is left, except processes with a session of
  /// their own.
  ///
  /// ```swift
  /// let result = try await Command("git", "status", "--short").run(output: .kept(upTo: 1 << 20))
  /// print(result.status, result.output.text)
  /// ```
  ///
  /// When the task is cancelled, the command is stopped as the ``StopPlan`` of the policy says, and
  /// the result says so; no error is thrown.
  ///
  /// - Parameters:
  ///   - policy: The stop plan, the timeout and the hooks count; the rest concerns later runs.
  ///   - changes: The changes that the command is told about.
  ///   - output: What happens to standard output.
  ///   - errors: What happens to standard error; `nil` for the same pipe as standard output, so that the
  ///     lines of both keep their order.
  ///   - started: Called on a queue of the run with the ID of the process and of its group, as soon as
  ///     the process exists.
  /// - Throws: `SystemError` if the command cannot be started.
  public func run(
    policy: RunPolicy = RunPolicy(), for changes: ChangeBatch? = nil,
    output: OutputHandling = .inherited, errors: OutputHandling? = nil,
    started: (@Sendable (_ processID: Int32) -> Void)? = nil
  ) async throws(SystemError) -> RunResult {
    let run = SingleRun(output, errors, started)
    let queue = run.makeQueue(for: self, policy)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        run.await { continuation.resume(returning: $0) }
        if let changes, !changes.changes.isEmpty { queue.submit(changes) } else { queue.start() }
      }
    } onCancel: {
      queue.end()
    }
    return try result.get()
  }
}

#endif  // !WITHOUT_CONCURRENCY
