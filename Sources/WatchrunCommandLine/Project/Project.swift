import ActionRunning
import FileObservation
import LiveReload
import PathFiltering
import Support
import SystemCalls

/// The tasks and pages of a directory. One from a file is validated: all dependencies exist, there is no
/// cycle, and every service with dependents has a readiness check.
struct Project: Hashable, Sendable {
  /// The maximum number of tasks that run at once; `nil` for the number of cores.
  var jobs: Int?
  /// The values of options that were not given, by key.
  var defaults: [String: Assignment] = [:]
  /// Patterns for paths whose changes are ignored by all tasks.
  var ignores: [GlobPattern] = []
  /// In the order of the file.
  var tasks: [Task] = []
  /// In the order of the file.
  var pages: [Page] = []

  /// A command and the changes that start it.
  @dynamicMemberLookup
  struct Task: Hashable, Sendable {
    var name: String
    var run: Run
    /// What a command line can set, too.
    var shared = TaskSettings()
    var directory: Path?
    var watched: [Path] = []
    var after: [String] = []
    /// Whether it does not end by itself, and is restarted if it does.
    var isService = false
    /// Whether it is a service that is restarted however often it ends.
    var isKeptAlive = false
    var readiness: TaskDefinition.Readiness?
    /// Whether it has the terminal while it runs.
    var isInteractive = false

    init(name: String, run: Run) {
      self.name = name
      self.run = run
    }

    subscript<Value>(dynamicMember member: WritableKeyPath<TaskSettings, Value>) -> Value {
      get { shared[keyPath: member] }
      set { shared[keyPath: member] = newValue }
    }
  }

  /// The command of a task.
  enum Run: Hashable, Sendable {
    /// A shell line.
    case line(String)
    /// A program and its arguments.
    case words([String])
  }

  /// A page that is served and reloaded.
  struct Page: Hashable, Sendable {
    /// A server as it is written.
    enum Server: Hashable, Sendable {
      case port(UInt16)
      case url(String)
    }

    /// A path with the server that answers the requests for it.
    struct Proxy: Hashable, Sendable {
      /// The path for all requests without a path of their own.
      static let all = "/"

      var path: String
      var server: Server
    }

    var name: String
    var served: Path?
    /// In the order of the file. One of them has the path ``Proxy/all``, or there is a directory.
    var proxies: [Proxy] = []
    var port: UInt16?
    var reload: [Path] = []
    var after: [String] = []
    var hosts: [String] = []
    var fallback: String?
    var headers: [HeaderField] = []
    var showsOverlay = true
    /// `nil` for the default: where messages go to a terminal.
    var reportsConsole: Bool?
    var listsDirectories = false
    var servesDotFiles = false
  }
}

extension Project {
  /// Its tasks and pages, with what they depend on.
  var nodes: [TaskGraph.Node] {
    tasks.map { TaskGraph.Node($0.name, dependencies: $0.after) }
      + pages.map { TaskGraph.Node($0.name, dependencies: $0.after) }
  }

  /// The names of its tasks and pages.
  var names: [String] { nodes.map(\.name) }
}
