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

extension Project {
  /// The differences, in one line.
  func changes(since old: Project) -> String {
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
      + keys.map { $0 == "color" ? "color (at the next start)" : $0 }
  }

  /// Tasks and pages by name.
  private var entries: [String: AnyHashable] {
    let all = tasks.map { ($0.name, AnyHashable($0)) } + pages.map { ($0.name, AnyHashable($0)) }
    return Dictionary(all) { first, _ in first }
  }
}
