import Support

/// The picture that a session gives of itself.
public struct SessionAnswer: Hashable, Sendable {
  /// Whether anything can happen without a further change.
  public enum State: String, Sendable {
    /// No run is under way and none is due, except those that are delayed because a task keeps writing
    /// what it reads.
    case rest
    case busy
    /// The user has paused the session.
    case paused
    /// A client holds the changes.
    case held
  }

  /// A task, and the result of its latest run.
  public struct Task: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its command, for people.
    public var command = ""
    /// `pending`, `running`, `ready`, `succeeded`, `failed`, `skipped` or `stopped`.
    public var state = "pending"
    /// Its exit status.
    public var status: Int?
    /// Whether it was stopped because it exceeded its time.
    public var isTimedOut = false
    /// Milliseconds since 1970.
    public var startedAt: Int?
    /// How long it has run, or until it was ready.
    public var milliseconds: Int?
    /// Whether it keeps running.
    public var isService = false
    /// The end of its output, if it failed.
    public var output: [String] = []
    /// Whether the session reads its output. Otherwise that goes to the terminal, or wherever the session
    /// writes.
    public var isOutputRead = true
    /// What the output of its latest run that has ended by itself says about errors, if it was read.
    public var diagnostics: [Diagnostic] = []

    /// Creates a task that has not run yet.
    public init(_ name: String) { self.name = name }

    /// Whether it keeps the session from being green. A task that has not run yet does not, beside others.
    public var isRed: Bool { state == "failed" || state == "skipped" || state == "stopped" }
  }

  /// A task that is owed a run, and why that has not begun.
  public struct Pending: Hashable, Sendable {
    /// The name of the task.
    public var task: String
    /// `runs`, `hook`, `job`, `dependencies`, `changes`, `dependents`, `predecessor`, `terminal`, `pause`,
    /// `delay` or `nextRun`.
    public var cause: String
    /// For people.
    public var text: String
    /// Some of the changed paths.
    public var changes: [String] = []

    /// Creates an entry.
    public init(task: String, cause: String, text: String, changes: [String] = []) {
      (self.task, self.cause, self.text, self.changes) = (task, cause, text, changes)
    }
  }

  /// The directory of the session.
  public var directory: Path
  /// The command line of the session.
  public var command: String
  /// Its process ID.
  public var process: Int
  /// Whether it is at rest.
  public var state: State
  /// Whether the time of the question was over before the session came to rest.
  public var isLate = false
  /// Why the session may be out of date, such as errors in the project file; `nil` if it is not.
  public var problem: String?
  /// The tasks that were asked for.
  public var tasks: [Task] = []
  /// Which of them are owed a run, in the order in which they will run.
  public var pending: [Pending] = []

  /// Creates the answer of a session without tasks.
  public init(directory: Path, command: String, process: Int, state: State) {
    (self.directory, self.command) = (directory, command)
    (self.process, self.state) = (process, state)
  }

  /// Whether a task has failed, was skipped or was stopped, or there is a problem.
  public var isRed: Bool { problem != nil || tasks.contains(where: \.isRed) }

  /// Whether it is not red, and any of the tasks has run, unless there are none.
  public var isGreen: Bool { problem == nil && tasks.areGreen }

  // MARK: - JSON

  /// An object in one line.
  public var json: [UInt8] {
    JSONWriter.object { writer in
      writer.member("version", SessionRequest.version)
      writer.member("directory", directory)
      writer.member("command", command)
      writer.member("process", process)
      writer.member("state", state.rawValue)
      writer.member("green", isGreen)
      writer.member("late", isLate)
      writer.member("problem", problem)
      writer.objects("tasks", tasks, Self.write)
      writer.objects("pending", pending) { entry, writer in
        writer.member("task", entry.task)
        writer.member("cause", entry.cause)
        writer.member("text", entry.text)
        writer.member("changes", entry.changes)
      }
    }
  }

  private static func write(_ task: Task, to writer: inout JSONWriter) {
    writer.member("name", task.name)
    writer.member("command", task.command)
    writer.member("service", task.isService)
    writer.member("state", task.state)
    writer.member("status", task.status)
    writer.member("startedAt", task.startedAt)
    writer.member("durationMs", task.milliseconds)
    writer.member("timedOut", task.isTimedOut)
    if task.isOutputRead {
      writer.member("output", task.output)
    } else {
      writer.member("output", nil as String?)
    }
    writer.objects("diagnostics", task.diagnostics) { diagnostic, writer in
      writer.member("path", diagnostic.path?.description)
      writer.member("line", diagnostic.line)
      writer.member("column", diagnostic.column)
      writer.member("severity", diagnostic.severity.rawValue)
      writer.member("message", diagnostic.message)
    }
  }

  /// Reads the answer of a session; `nil` if it is none.
  init?(_ value: JSONValue) {
    guard let state = value["state"]?.text.flatMap(State.init), let tasks = value["tasks"] else {
      return nil
    }
    self.init(
      directory: Path(value["directory"]?.text ?? ""), command: value["command"]?.text ?? "",
      process: value["process"]?.int ?? 0, state: state)
    isLate = value["late"]?.bool ?? false
    problem = value["problem"]?.text
    self.tasks = tasks.elements.map(Self.task)
    pending = (value["pending"]?.elements ?? []).map { entry in
      Pending(
        task: entry["task"]?.text ?? "", cause: entry["cause"]?.text ?? "",
        text: entry["text"]?.text ?? "",
        changes: entry["changes"]?.elements.compactMap(\.text) ?? [])
    }
  }

  private static func task(_ value: JSONValue) -> Task {
    var task = Task(value["name"]?.text ?? "")
    task.command = value["command"]?.text ?? ""
    task.state = value["state"]?.text ?? task.state
    task.status = value["status"]?.int
    task.isTimedOut = value["timedOut"]?.bool ?? false
    task.startedAt = value["startedAt"]?.int
    task.milliseconds = value["durationMs"]?.int
    task.isService = value["service"]?.bool ?? false
    task.output = value["output"]?.elements.compactMap(\.text) ?? []
    task.isOutputRead = value["output"]?.content != .null
    task.diagnostics = (value["diagnostics"]?.elements ?? []).compactMap { entry in
      guard let severity = entry["severity"]?.text.flatMap(Diagnostic.Severity.init) else {
        return nil
      }
      return Diagnostic(
        severity, entry["message"]?.text?.printable ?? "",
        path: entry["path"]?.text.map { Path($0) }, line: entry["line"]?.int,
        column: entry["column"]?.int)
    }
    return task
  }
}

extension [SessionAnswer.Task] {
  /// Whether none is red, and any has run, unless there are none.
  package var areGreen: Bool {
    !contains(where: \.isRed) && (isEmpty || contains { $0.state != "pending" })
  }
}

// Public declarations use them.
@_exported import struct Diagnostics.Diagnostic
@_exported import struct SystemCalls.Path
// The compiler needs the spaces.
// swift-format-ignore
@_exported import func SystemCalls . /
