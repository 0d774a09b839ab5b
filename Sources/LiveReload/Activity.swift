import SystemCalls

/// What happens to the tasks of a project, as far as pages show it.
public enum Activity: Sendable {
  /// These are the tasks that there are.
  case tasks([TaskDescription])
  /// Tasks begin to run.
  case roundBegan(reason: String, changes: [Change])
  /// A run begins.
  case started(task: String)
  /// A line that the task has written, without its end.
  case output(task: String, line: [UInt8])
  /// A run is being stopped.
  case stopping(task: String)
  /// A run has ended, or there was none.
  case ended(task: String, Outcome, status: Int?, duration: Duration)
  /// These tasks are wanted or run, or are services that are not ready.
  case unsettled(Set<String>)
  /// All that began with `roundBegan` is done.
  case roundEnded(succeeded: Bool)
  /// These files have changed, by absolute paths.
  case changed([Path])

  /// A task, or the command of the command line.
  public struct TaskDescription: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The command, as it is shown.
    public var command: String
    /// The tasks that must have succeeded before.
    public var dependencies: [String]
    /// Whether it runs on, as a server does.
    public var isService: Bool

    /// A task.
    public init(name: String, command: String, dependencies: [String] = [], isService: Bool = false)
    {
      self.name = name
      self.command = command
      self.dependencies = dependencies
      self.isService = isService
    }
  }

  /// A change that began a round.
  public struct Change: Hashable, Sendable {
    /// The file, as it is shown.
    public var path: Path
    /// Such as `modified`.
    public var kind: String

    /// A change.
    public init(path: Path, kind: String) {
      self.path = path
      self.kind = kind
    }
  }

  /// What a run has come to.
  public enum Outcome: String, Hashable, Sendable {
    /// It has succeeded.
    case succeeded
    /// It has failed.
    case failed
    /// A service is ready.
    case ready
    /// A service was not ready in time, or has ended before.
    case notReady
    /// It was stopped.
    case stopped
    /// It was not run, because a dependency has failed.
    case skipped
    /// A service was left running as it was, because a dependency has failed.
    case kept
  }
}
