import Dispatch
import FileObservation
import Synchronization
import SystemCalls

extension Command {
  /// What happens to the output of ``run(policy:for:output:errors:started:)``.
  public enum OutputHandling: Sendable {
    /// The command writes to the descriptors of this process.
    case inherited
    /// The lines are kept in the order in which they arrive, up to so many bytes, each with a line feed.
    /// What follows is read and dropped.
    case kept(upTo: Int)
    /// Each line is passed on as it arrives, without its line feed, on a queue of the run. Until the
    /// closure returns, no more output is read.
    case lines(@Sendable (_ line: [UInt8]) -> Void)
  }

  /// The outcome of a run.
  public struct RunResult: Sendable, Hashable {
    /// How the command has ended.
    public internal(set) var status = ExitStatus.exited(0)
    /// Whether it ended by itself, or was stopped.
    public internal(set) var ending = TaskReport.Ending.stopped
    /// From its start to its end.
    public internal(set) var duration = Duration.zero
    /// Standard output, if it was kept, with standard error unless that was handled apart.
    public internal(set) var output = KeptOutput()
    /// Standard error, if it was kept apart.
    public internal(set) var errors = KeptOutput()
  }

  /// Output that was kept.
  public struct KeptOutput: Sendable, Hashable {
    /// The bytes.
    public internal(set) var bytes: [UInt8] = []
    /// Whether bytes are missing at the end, because there were more than were to be kept.
    public internal(set) var isCut = false

    /// The bytes as a string, in which those that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func add(_ line: TaskOutput, upTo limit: Int) {
      let added = line.line + (line.isSplit ? [] : [UInt8(ascii: "\n")])
      let room = max(0, limit - bytes.count)
      bytes += added.prefix(room)
      if added.count > room { isCut = true }
    }
  }
}

/// Collects what a queue reports about its only run.
final class SingleRun: Sendable {
  private struct State {
    var result = Command.RunResult()
    var error: SystemError?
    var isFinished = false
    var awaiting: (@Sendable (Result<Command.RunResult, SystemError>) -> Void)?
  }

  private let state = Mutex(State())
  private let output: Command.OutputHandling
  /// `nil` for one pipe with standard output.
  private let errors: Command.OutputHandling?
  private let started: (@Sendable (Int32) -> Void)?

  init(
    _ output: Command.OutputHandling, _ errors: Command.OutputHandling?,
    _ started: (@Sendable (Int32) -> Void)?
  ) {
    (self.output, self.errors, self.started) = (output, errors, started)
  }

  func makeQueue(for command: Command, _ policy: RunPolicy) -> ActionQueue {
    var policy = policy
    policy.keepsAlive = false
    var options = TaskRunner.Options(completion: .firstRun)
    options.endsAfterFailedStart = { _, _ in true }
    if let errors {
      let read = [(TaskOutput.Stream.standardOutput, output), (.standardError, errors)]
      options.separateStreams = Set(read.filter(\.1.isRead).map(\.0))
    }
    let isRead = output.isRead || errors?.isRead == true
    let sink: TaskOutput.Sink = { output in self.receive(output) }
    return ActionQueue(command, policy: policy, options: options, output: isRead ? sink : nil) {
      report in
      self.note(report)
    }
  }

  func await(_ body: @escaping @Sendable (Result<Command.RunResult, SystemError>) -> Void) {
    let isFinished = state.withLock { state in
      state.awaiting = body
      return state.isFinished
    }
    if isFinished { finish() }
  }

  private func receive(_ line: TaskOutput) {
    guard line.isFinished, line.run.job == .command else { return }
    let isError = line.stream == .standardError
    switch isError ? errors ?? output : output {
    case .inherited: break
    case .kept(let limit):
      state.withLock { state in
        isError
          ? state.result.errors.add(line, upTo: limit) : state.result.output.add(line, upTo: limit)
      }
    case .lines(let body): body(line.line)
    }
  }

  private func note(_ report: TaskReport) {
    switch report {
    case .run(let run, .launched(let process)) where run.job == .command:
      started?(process)
    case .run(let run, .ended(let status, let duration, let ending)) where run.job == .command:
      state.withLock { state in
        (state.result.status, state.result.ending) = (status, ending)
        state.result.duration = duration
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
      return (state.awaiting, state.error.map { .failure($0) } ?? Result.success(state.result))
    }
    body?(result)
  }
}

extension Command.OutputHandling {
  fileprivate var isRead: Bool {
    switch self {
    case .inherited: false
    case .kept, .lines: true
    }
  }
}
