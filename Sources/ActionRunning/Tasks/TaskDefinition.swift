import FileObservation

/// One step of a project: a command, what starts it, and what must have succeeded before it.
public struct TaskDefinition: Sendable, Hashable {
  /// By which others name it, and reports do.
  public var name: String
  /// What is run.
  public var command: Command
  /// Which changes start it.
  public var triggers: TaskTriggers
  /// The names of the tasks that must have succeeded before it runs. It also runs whenever one of
  /// them has succeeded again.
  public var after: [String]
  /// True for one that runs on: a server. It is started again when it ends, after a pause; a run of
  /// it holds none of the places for tasks that run side by side.
  public var isService: Bool
  /// When a service counts as ready, so that what stands after it may begin; nil for as soon as it
  /// was started.
  public var readiness: Readiness?
  /// How the task goes about its work.
  ///
  /// A service is always kept alive, and the policy `queue`, which would wait for its end, is
  /// `restart` there. What concerns the whole graph is not read here, but in ``TaskRunner/Options``:
  /// `completion`, `ignoredSignals`, `guardian` and `readsOutput`; and a `build` is a task of its own.
  public var options: ActionQueue.Options
  /// True if it does not run at the start, but on the first change. What stands after it waits, too.
  public var isPostponed: Bool

  /// A task that runs at the start, and when something has changed that it watches.
  public init(
    _ name: String, _ command: Command, triggers: TaskTriggers = TaskTriggers(),
    after: [String] = [], isService: Bool = false, readiness: Readiness? = nil,
    options: ActionQueue.Options = ActionQueue.Options(), isPostponed: Bool = false
  ) {
    self.name = name
    self.command = command
    self.triggers = triggers
    self.after = after
    self.isService = isService
    self.readiness = readiness
    self.options = options
    self.isPostponed = isPostponed
  }

  /// True if it runs on, and is started again when it ends. One that is kept alive is a service.
  var runsOn: Bool { isService || options.keepsAlive }

  /// Whether it is ready when it has printed a text.
  var isReadyByLine: Bool {
    if case .line? = readiness?.sign { true } else { false }
  }
}

/// When a service counts as ready.
public struct Readiness: Sendable, Hashable {
  /// By what it is seen.
  public enum Sign: Sendable, Hashable {
    /// Somebody accepts connections at this port of 127.0.0.1 or ::1.
    case port(UInt16)
    /// A GET of this address, which begins with `http://`, is answered with a status below 500.
    case url(String)
    /// A line of its output holds this text.
    case line(String)
  }

  /// By what it is seen.
  public var sign: Sign
  /// How long it may take from the start; then the service has failed.
  public var timeout: Duration

  /// Readiness by this sign, within thirty seconds unless said otherwise.
  public init(_ sign: Sign, timeout: Duration = .seconds(30)) {
    self.sign = sign
    self.timeout = timeout
  }
}
