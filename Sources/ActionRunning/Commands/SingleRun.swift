import Dispatch
import FileObservation
import Synchronization
import SystemCalls

extension Command {
  /// What happens to the output of ``run(policy:for:output:)``.
  public enum OutputHandling: Sendable {
    /// The command writes to the descriptors of this process.
    case inherited
    /// The lines of standard output and standard error are kept in the order in which they arrive, up
    /// to so many bytes, each with a line feed. What follows is read and dropped.
    case kept(upTo: Int)
    /// Each line is passed on as it arrives, without its line feed, on a queue of the run. Until the
    /// closure returns, no more output is read.
    case lines(@Sendable (_ line: [UInt8]) -> Void)
  }

  /// The outcome of a run.
  public struct RunResult: Sendable, Hashable {
    /// How the command has ended.
    public let status: ExitStatus
    /// Whether it ended by itself, or was stopped.
    public let ending: TaskReport.Ending
    /// From its start to its end.
    public let duration: Duration
    /// The output, if it was kept.
    public let output: [UInt8]
    /// Whether output is missing at the end, because there was more than was to be kept.
    public let isOutputCut: Bool

    /// The output as a string, in which bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: output, as: UTF8.self) }
  }
}

/// Collects what a queue reports about its only run.
final class SingleRun: Sendable {
  private struct State {
    var status = ExitStatus.exited(0)
    var ending = TaskReport.Ending.stopped
    var duration = Duration.zero
    var output: [UInt8] = []
    var isOutputCut = false
    var error: SystemError?
    var isFinished = false
    var awaiting: (@Sendable (Result<Command.RunResult, SystemError>) -> Void)?
  }

  private let state = Mutex(State())
  private let handling: Command.OutputHandling

  init(_ handling: Command.OutputHandling) {
    self.handling = handling
  }

  func makeQueue(for command: Command, _ policy: RunPolicy) -> ActionQueue {
    var policy = policy
    policy.keepsAlive = false
    var options = TaskRunner.Options(completion: .firstRun)
    options.endsAfterFailedStart = { _, _ in true }
    return ActionQueue(command, policy: policy, options: options, output: sink) { report in
      self.note(report)
    }
  }

  /// Calls `body` once with the result.
  func await(_ body: @escaping @Sendable (Result<Command.RunResult, SystemError>) -> Void) {
    let isFinished = state.withLock { state in
      state.awaiting = body
      return state.isFinished
    }
    if isFinished { finish() }
  }

  private var sink: TaskOutput.Sink? {
    switch handling {
    case .inherited:
      nil
    case .kept(let limit):
      { output in if output.isFinished { self.keep(output, limit) } }
    case .lines(let body):
      { output in if output.isFinished { body(output.line) } }
    }
  }

  private func keep(_ output: TaskOutput, _ limit: Int) {
    state.withLock { state in
      let bytes = output.line + (output.isSplit ? [] : [UInt8(ascii: "\n")])
      let room = max(0, limit - state.output.count)
      state.output += bytes.prefix(room)
      if bytes.count > room { state.isOutputCut = true }
    }
  }

  private func note(_ report: TaskReport) {
    switch report {
    case .run(let run, .ended(let status, let duration, let ending)) where run.job == .command:
      state.withLock { state in
        (state.status, state.duration, state.ending) = (status, duration, ending)
      }
    case .run(let run, .notStarted(let error, _)) where run.job == .command:
      state.withLock { $0.error = error }
    case .runner(.finished):
      state.withLock { $0.isFinished = true }
      finish()
    default:
      break
    }
  }

  private func finish() {
    let (body, result) = state.withLock { state in
      defer { state.awaiting = nil }
      let result = Command.RunResult(
        status: state.status, ending: state.ending, duration: state.duration, output: state.output,
        isOutputCut: state.isOutputCut)
      return (state.awaiting, state.error.map { .failure($0) } ?? Result.success(result))
    }
    body?(result)
  }
}
