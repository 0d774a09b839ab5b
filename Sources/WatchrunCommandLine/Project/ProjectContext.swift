import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

/// What a project's tasks depend on beside the project itself.
struct ProjectContext: Sendable {
  /// The directory that relative paths start from.
  var directory: Path
  /// The filter by which the tasks' files are observed.
  var filter: PathFilter
  /// The shell for shell lines of tasks that name none. Several people share the lines of a project file,
  /// a Procfile or a makefile, so that it is not that of the user.
  var shell = Array("sh".utf8)
  /// Variables for every task. A task's own are stronger.
  var environment: [Command.EnvironmentVariable] = []
  /// Whether the output shows colours.
  var colorMode = ColorMode.auto
  /// Whether tasks write to pseudo-terminals unless a key says otherwise.
  var usesPseudoTerminals = false
  /// Whether pages report their consoles unless a key says otherwise.
  var reportsConsoles = false
  /// Whether the output of a single task is read as well, and forwarded.
  var readsOutput = false
  /// The output that is printed of tasks without a mode of their own.
  var outputMode = OutputMode.all
  /// Whether no task runs at the start.
  var isPostponed = false
}

extension Project {
  /// Values that replace those of every task.
  struct Overrides: Sendable {
    /// For tasks that watch something.
    var watched: [Path]?
    var shell: [UInt8]?
    var kinds: Set<ChangeBatch.Kind>?
    var busyMode: BusyMode?
    var stopSignal: Signal?
    var stopTimeout: Duration?
    var timeout: Duration?
    var outputMode: OutputMode?
  }

  func overridden(by values: Overrides) -> Project {
    var project = self
    for index in project.tasks.indices { project.tasks[index].override(by: values) }
    return project
  }
}

extension Project.Task {
  fileprivate mutating func override(by values: Project.Overrides) {
    if let watched = values.watched, !self.watched.isEmpty { self.watched = watched }
    if let shell = values.shell { self.shell = shell }
    if let kinds = values.kinds { self.kinds = kinds }
    if let mode = values.outputMode { outputMode = mode }
    if let signal = values.stopSignal { stopPlan.signal = signal }
    if let timeout = values.stopTimeout { stopPlan.timeout = timeout }
    // A service does not end: it can neither be waited for nor take too long.
    if let mode = values.busyMode, !(isService && mode == .queue) { busyMode = mode }
    if let timeout = values.timeout, !isService { self.timeout = timeout }
  }
}
