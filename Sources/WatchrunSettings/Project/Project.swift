import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Support
import SystemCalls

/// The tasks and pages of a directory. One from a file is validated: all dependencies exist, there is no
/// cycle, and every service with dependents has a readiness check.
package struct Project: Hashable, Sendable {
  /// The maximum number of tasks that run at once; `nil` for the number of cores.
  package var jobs: Int?
  /// The values of options that were not given, by key.
  package var defaults: [String: Assignment] = [:]
  /// Patterns for paths whose changes are ignored by all tasks.
  package var ignores: [GlobPattern] = []
  package var environmentFiles: [Path] = []
  /// Files of which it was made, beside a project file. They need not exist.
  package var sources: [Path] = []
  /// The files by which it was detected, which are sources of its tasks as well.
  package var detectedFiles: [Path] = []
  /// In the order of the file.
  package var tasks: [Task] = []
  /// In the order of the file.
  package var pages: [Page] = []
  /// What stood for tasks in several directories.
  package var groups: [Group] = []

  package init() {}

  /// What is left where nothing is detected any more, for example the files by which it may be again.
  package var withoutTasks: Project {
    var project = self
    (project.tasks, project.pages, project.groups) = ([], [], [])
    return project
  }

  /// A command and the changes that start it.
  package struct Task: Hashable, Sendable {
    package var name: String
    package var run: Run
    package var directory: Path?
    /// Which tests replace the word `{tests}` of its command.
    package var testMap: TestMap?
    /// Patterns of the files in whose directories it runs.
    package var each: [GlobPattern] = []
    /// The task in the file that stands for this one and others in other directories.
    package var group: String?
    package var watched: [Path] = []
    package var after: [String] = []
    /// Whether it does not end by itself, and is restarted if it does.
    package var isService = false
    /// Whether it is a service that is restarted however often it ends.
    package var isKeptAlive = false
    package var readiness: TaskDefinition.Readiness?
    /// The port of a service, which is in its variable `PORT`; 0 for a free one.
    package var port: UInt16?
    /// The variables with the ports of all services, unless it has one of that name.
    package var portVariables: [Command.EnvironmentVariable] = []
    /// Where watchrun itself listens for a service, at this port.
    package var listen: ListenAddress?
    /// The socket, once it is open.
    package var socket: PassedSocket?
    package var stop: Run?
    /// How often in a row a service is restarted without success; `nil` for the default.
    package var restartLimit: Int?
    /// The first pause before a service is restarted; `nil` for the default.
    package var backOff: Duration?
    /// Whether only requests for it and its dependents start it.
    package var isManual = false
    /// Whether it is not run at the start if nothing has changed since its last success.
    package var isFreshAllowed = true
    package var isInteractive = false

    // What a command line can set, too.

    package var extensions: [[UInt8]] = []
    package var filters: [GlobPattern] = []
    package var ignores: [GlobPattern] = []
    /// Patterns for paths that the command or the task writes itself.
    package var writes: [GlobPattern] = []
    /// `nil` for the default.
    package var kinds: Set<ChangeBatch.Kind>?
    package var isPostponed = false
    /// What a change during a run does; `nil` for the default.
    package var onBusy: BusyMode?
    package var stopPlan = StopPlan()
    package var timeout: Duration?
    /// Shell lines.
    package var onSuccess: [UInt8]?
    package var onFailure: [UInt8]?
    /// The shell for shell lines.
    package var shell = Settings.Shell.whenNeeded
    package var environment: [Command.EnvironmentVariable] = []
    package var environmentFiles: [Path] = []
    /// The variables that these files set, once they are read.
    package var fileVariables: [Command.EnvironmentVariable] = []
    /// `nil` for that of the project, or the default.
    package var outputMode: OutputMode?
    /// The file to which its output is appended; may contain `{task}`. `nil` for that of the project, or none.
    package var log: Path?
    /// Whether it writes to a pseudo-terminal if its output is read; `nil` for the default.
    package var usesPseudoTerminal: Bool?
  }

  /// The command of a task.
  package enum Run: Hashable, Sendable {
    case line(String)
    case words([String])

    /// The command. The shell of a line is yet to be chosen.
    package var command: Command {
      switch self {
      case .line(let line): Command(shell: line)
      case .words(let words): Command(words)
      }
    }

    /// Whether it has the word that tests replace.
    var takesTests: Bool {
      switch self {
      case .line(let line): TestMap.filling(line.word, with: []) != nil
      case .words(let words): words.contains { $0.word == TestMap.word }
      }
    }
  }

  package struct Page: Hashable, Sendable {
    /// A server as it is written.
    enum Server: Hashable, Sendable {
      case port(UInt16)
      case url(String)
      case task(String)
    }

    /// A path with the server that answers the requests for it.
    package struct Proxy: Hashable, Sendable {
      /// The path for all requests without a path of their own.
      static let all = "/"

      var path: String
      var server: Server
      /// Whether watchrun holds its socket.
      var isHeld = false
    }

    package var name: String
    package var served: Path?
    /// In the order of the file. One of them has the path ``Proxy/all``, or there is a directory.
    package var proxies: [Proxy] = []
    package var port: UInt16?
    package var reload: [Path] = []
    package var after: [String] = []
    package var hosts: [String] = []
    package var fallback: String?
    package var headers: [HeaderField] = []
    package var showsOverlay = true
    /// `nil` for the default: where messages go to a terminal.
    package var reportsConsole: Bool?
    package var listsDirectories = false
    package var servesDotFiles = false
  }
}

extension Project {
  /// Its tasks and pages, with what they depend on.
  package var nodes: [TaskGraph.Node] {
    tasks.map { TaskGraph.Node($0.name, dependencies: $0.after) }
      + pages.map { TaskGraph.Node($0.name, dependencies: $0.after) }
  }

  /// The tasks that a name stands for: the one of that name, or those that were made of it by `each`.
  package func tasks(namedBy name: String) -> [String] {
    tasks.filter { $0.name == name || $0.group == name }.map(\.name)
  }

  package var names: [String] { nodes.map(\.name) }
}

extension Project {
  /// The differences, in one line.
  package func changes(since old: Project) -> String {
    let (now, before) = (entries, old.entries)
    let common = now.filter { before[$0.key] != nil && before[$0.key] != $0.value }
    let parts = [
      ("new", names.filter { before[$0] == nil }),
      ("changed", names.filter { common[$0] != nil }),
      ("removed", old.names.filter { now[$0] == nil }),
      ("for all tasks", changedKeys(since: old)),
    ]
    let shown = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
    return shown.isEmpty ? "in another order" : shown.joined(separator: "; ")
  }

  /// The changed keys of the file's top level.
  private func changedKeys(since old: Project) -> [String] {
    let keys = ProjectKey.names(in: .project).filter { defaults[$0] != old.defaults[$0] }.sorted()
    return (jobs == old.jobs ? [] : ["jobs"]) + (ignores == old.ignores ? [] : ["ignore"])
      + (environmentFiles == old.environmentFiles ? [] : ["envFile"])
      + keys.map { ["color", "timestamps"].contains($0) ? "\($0) (at the next start)" : $0 }
  }

  private var entries: [String: AnyHashable] {
    let all = tasks.map { ($0.name, AnyHashable($0)) } + pages.map { ($0.name, AnyHashable($0)) }
    return Dictionary(all) { first, _ in first }
  }
}
