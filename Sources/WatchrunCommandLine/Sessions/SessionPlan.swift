import ActionRunning
import FileObservation
import LiveReload
import WatchrunSettings

/// What a session runs, serves and observes. A command line and a project are converted to one.
struct SessionPlan: Sendable {
  /// Where the plan comes from, which decides how messages name things and what they advise.
  enum Origin: Hashable, Sendable {
    /// A command, possibly with a build and a page, or a page alone.
    case commandLine
    /// A project file, or a project that was detected.
    case project
  }

  /// What an observer needs to know beside the command line.
  struct Observation: Sendable {
    var paths: [WatchedPath]
    /// Patterns for paths that are ignored in addition.
    var ignores: [GlobPattern] = []
    /// `nil` for those of the command line.
    var kinds: Set<ChangeBatch.Kind>?
    /// `nil` for those of the command line.
    var sources: IgnoreSources?
    /// Whether `--filter` and `--exts` apply.
    var filters = true
    /// The files to which the output of tasks is appended, by task: absolute paths.
    var logs: [String: Path] = [:]
    /// Those of removed tasks, which may write their last lines. Changes of logs never count.
    var formerLogs: Set<Path> = []
    /// All of them.
    var allLogs: Set<Path> { formerLogs.union(logs.values) }
    /// The quiet period unless the user has chosen a fixed one.
    var adaptiveQuietPeriod = QuietPeriod.adaptive

    mutating func observe(_ files: [Path]) {
      paths += files.map { WatchedPath($0, isRecursive: false, mayBeMissing: true) }
    }
  }

  var origin: Origin
  /// Whether the tasks are those of a file in which users can set keys.
  var hasFile = false
  var graph: TaskGraph
  /// How messages show the tasks, in the order in which the user gave them.
  var tasks: [TaskText]
  var pages: [Page] = []
  var observation: Observation
  /// The files of which the project is made, by absolute paths. They need not exist.
  var sources: [Path] = []
  /// The files with variables for tasks, by absolute paths.
  var environmentFiles: [Path] = []
  /// Whether all output is read, since the user asks for something that needs it.
  var readsOutput = false

  /// The tasks that a name stands for: the one of that name, or those of its directories, such as `test:packages/a`.
  func tasks(namedBy name: String) -> [String] {
    tasks.filter { $0.name == name || $0.group == name }.map(\.name)
  }

  /// Whether messages name the tasks. The command of a command line and a single task go without saying.
  var namesTasks: Bool { origin == .project && tasks.count > 1 }

  /// Whether pages are served and nothing is run.
  var hasOnlyPages: Bool { tasks.isEmpty }

  /// Observes the files from which variables are read.
  mutating func observe(_ files: [Path], in directory: Path) {
    environmentFiles = files.map { $0.absolute(from: directory) }
    observation.observe(environmentFiles)
  }

  /// Observes the files to which the output of tasks is appended.
  mutating func keepLogs(in directory: Path) {
    for task in tasks {
      guard let log = task.log else { continue }
      observation.logs[task.name] = log.log(of: task.name).absolute(from: directory)
      readsOutput = true
    }
  }

  /// The output that is read. Pages show it, for one.
  var reading: TaskOutput.Reading {
    if readsOutput || !pages.isEmpty { return .always }
    return origin == .project ? .ofSeveralTasks : .whereNeeded
  }

  /// When there is a status line, which no task may write over: the output of all is read, or they have the terminal.
  /// - Parameter settings: The command line with the defaults of the project.
  func statusLine(_ settings: Settings) -> StatusLineMode {
    let isPossible = graph.tasks.allSatisfy { task in
      task.command.takesTerminal || reading.includes(task, of: graph)
    }
    return isPossible ? settings.effectiveStatusLine : .never
  }

  /// The task of the command; `nil` in a project.
  var command: String? {
    origin == .commandLine ? tasks.last?.name : nil
  }
}

/// How messages show a task.
struct TaskText: Hashable, Sendable {
  enum Role: Hashable, Sendable {
    /// The command of the command line.
    case command
    /// The build of the command line, which messages call "the build".
    case build
    case task
  }

  let name: String
  /// The task of the project that stands for this one and others.
  var group: String?
  var role = Role.task
  /// Whether its output is printed only when a run fails.
  var holdsOutput = false
  /// Whether it writes to a pseudo-terminal, if its output is read.
  var usesPseudoTerminal = false
  /// The file to which its output is appended; may contain `{task}`.
  var log: Path?
  var words: [[UInt8]] = []
  /// The command as a user writes it.
  let command: String
  /// The command as messages show it.
  let shownCommand: String

  /// What names the task in a page: the command of the command line itself, whose name may be that of a
  /// shell; `nil` for the name.
  var title: String? { role == .command ? ProjectText.abridged(shownCommand) : nil }
}
