/// A line of standard output or standard error of a run, or of a process that it left behind.
///
/// It is delivered on the runner's queue, in order with the reports.
public struct TaskOutput: Sendable, Hashable {
  /// What a process writes to.
  public enum Stream: Sendable, Hashable, CaseIterable {
    case standardOutput
    case standardError
  }

  /// The run that was the latest one when its pipe was opened.
  public let run: TaskReport.Run
  /// The stream. A runner reads both from one pipe, so that their lines keep their order; all of them count as
  /// ``Stream/standardOutput`` then.
  public let stream: Stream
  /// The line, without the line feed, or a piece of a line of more than 64 KiB.
  public let line: [UInt8]
  /// Whether the line is continued by the next one of the same run.
  public let isSplit: Bool
  /// False for the beginning of a line that has not been finished for 100 ms, such as a prompt or a
  /// row of dots. It is delivered again when more of it arrives, and then as a whole.
  public let isFinished: Bool

  /// Creates a line of output.
  package init(
    run: TaskReport.Run, _ stream: Stream = .standardOutput, line: [UInt8], isSplit: Bool = false,
    isFinished: Bool
  ) {
    self.run = run
    self.stream = stream
    self.line = line
    self.isSplit = isSplit
    self.isFinished = isFinished
  }

  /// Receives output.
  public typealias Sink = @Sendable (TaskOutput) -> Void

  /// Returns whether the receiver has room for more output. If not, calls the closure once, on any thread, when
  /// it has. Until then output stays in the pipes, and the processes that write it wait.
  package typealias Room = @Sendable (_ whenFree: @escaping @Sendable () -> Void) -> Bool

  /// Which output is read and delivered. Other output goes to the descriptors of this process. A
  /// command that takes the terminal always has those.
  public enum Reading: Sendable, Hashable {
    /// That of all tasks if there are several. That of a single task only if its readiness check
    /// examines it.
    case ofSeveralTasks
    case always
    /// Only that of services whose readiness check examines it.
    case whereNeeded

    /// Whether the output of a task of this graph is read.
    package func includes(_ task: TaskDefinition, of graph: TaskGraph) -> Bool {
      if task.command.takesTerminal { return false }
      return switch self {
      case .always: true
      case .ofSeveralTasks: graph.tasks.count > 1 || task.isReadyByLine
      case .whereNeeded: task.isReadyByLine
      }
    }
  }
}
