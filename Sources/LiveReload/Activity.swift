import SystemCalls

/// An event in the life of a project's tasks, as far as pages show it.
public enum Activity: Sendable {
  /// The tasks have been set, or replaced.
  case tasks([TaskDescription])
  /// A round has begun.
  case roundBegan(reason: String, changes: [Change])
  /// A run has started.
  case started(task: String)
  /// The process of a run exists. A page behind which it listens, or a descendant, takes the task for its server.
  case launched(task: String, process: Int32)
  /// A task has written a line, given without its line ending.
  case output(task: String, line: [UInt8])
  /// What the output of a run that is about to end says about errors: their number, as in `2 errors, 1 warning`,
  /// and a line for each error.
  case diagnosed(task: String, counts: String, lines: [String])
  /// A run is being stopped.
  case stopping(task: String)
  /// A run has ended, or was skipped.
  case ended(task: String, Outcome, status: Int?, duration: Duration)
  /// The next process of a service has failed, and the former one keeps running.
  case serving(task: String)
  /// The set of tasks that are queued, running, or services that are not ready.
  case unsettled(Set<String>)
  /// The round has ended.
  case roundEnded(succeeded: Bool)
  /// Files have changed; their absolute paths.
  case changed([Path])

  /// A task, or the command of the command line.
  public struct TaskDescription: Hashable, Sendable {
    /// The name of the task.
    public var name: String
    /// The command for display.
    public var command: String
    /// What names the task in messages about its failure: its name, unless something says more.
    public var title: String
    /// The tasks on which it depends.
    public var dependencies: [String]
    /// Whether it is a service, which keeps running.
    public var isService: Bool

    /// Creates a description of a task.
    public init(
      name: String, command: String, title: String? = nil, dependencies: [String] = [],
      isService: Bool = false
    ) {
      self.name = name
      self.command = command
      self.title = title ?? name
      self.dependencies = dependencies
      self.isService = isService
    }
  }

  /// A change that began a round.
  public struct Change: Hashable, Sendable {
    /// The path for display.
    public var path: Path
    /// The kind of change, such as `modified`.
    public var kind: String

    /// Creates a change.
    public init(path: Path, kind: String) {
      self.path = path
      self.kind = kind
    }
  }

  /// The outcome of a run.
  public enum Outcome: String, Hashable, Sendable {
    /// The run succeeded.
    case succeeded
    /// The run failed.
    case failed
    /// The service is ready.
    case ready
    /// The service was not ready in time, or ended before it was.
    case notReady
    /// The run was stopped.
    case stopped
    /// The task was skipped because a dependency failed.
    case skipped
    /// The service was left running because a dependency failed.
    case kept
  }
}
