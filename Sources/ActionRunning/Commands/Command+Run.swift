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
  /// print(result.status, result.text)
  /// ```
  ///
  /// When the task is cancelled, the command is stopped as the ``StopPlan`` of the policy says, and
  /// the result says so; no error is thrown.
  ///
  /// - Parameters:
  ///   - policy: The stop plan, the timeout and the hooks count; the rest concerns later runs.
  ///   - changes: The changes that the command is told about.
  ///   - output: What happens to standard output and standard error.
  /// - Throws: `SystemError` if the command cannot be started.
  public func run(
    policy: RunPolicy = RunPolicy(), for changes: ChangeBatch? = nil,
    output: OutputHandling = .inherited
  ) async throws(SystemError) -> RunResult {
    let run = SingleRun(output)
    let queue = run.makeQueue(for: self, policy)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        run.await { continuation.resume(returning: $0) }
        if let changes { queue.submit(changes) } else { queue.start() }
      }
    } onCancel: {
      queue.end()
    }
    return try result.get()
  }
}

#endif  // !WITHOUT_CONCURRENCY
