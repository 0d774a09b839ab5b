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
  /// The project with the values of options that replace those of every task.
  func overridden(by settings: Settings) -> Project {
    var project = self
    for index in project.tasks.indices { project.tasks[index].override(by: settings) }
    return project
  }
}

extension Project.Task {
  fileprivate mutating func override(by settings: Settings) {
    let own = shared
    for value in settings.replacements { value.shared?(&shared) }
    if settings.given["watch"] != nil, !watched.isEmpty { watched = settings.watched.map(\.path) }
    if shared.shell == .never { shared.shell = own.shell }
    guard isService else { return }
    // A service does not end: it can neither be waited for nor take too long.
    shared.timeout = own.timeout
    if shared.onBusy == .queue { shared.onBusy = own.onBusy }
  }
}
