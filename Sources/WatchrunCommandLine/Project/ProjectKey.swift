/// A key of the project file: the objects in which it may occur, the type of its value, and its help.
///
/// The reader, the schema and the manual are all based on this list.
struct ProjectKey: Hashable, Sendable {
  /// The objects in which keys occur.
  enum Scope: String, CaseIterable, Sendable {
    case project
    case task
    case page
    case readiness = "ready"
  }

  /// The type of the value of a key.
  enum Kind: Hashable, Sendable {
    case flag
    case count
    case port
    case portOrURL
    case url
    case text
    case command
    case duration
    case signal
    case choice([String])
    case choices([String])
    case texts
    case hosts
    case globs
    case extensions
    case taskNames
    case variables
    case readiness
    case tasks
  }

  let name: String
  let scopes: [Scope]
  let kind: Kind
  let help: String

  private init(_ name: String, in scopes: Scope..., is kind: Kind, _ help: String) {
    self.name = name
    self.scopes = scopes
    self.kind = kind
    self.help = help
  }
}

extension ProjectKey {
  /// All keys, in the order in which they are explained.
  static let all: [ProjectKey] = project + commands + triggers + course + pages + readiness

  /// The names of the keys of an object.
  static func names(in scope: Scope) -> [String] {
    all.filter { $0.scopes.contains(scope) }.map(\.name)
  }

  static func named(_ name: String, in scope: Scope) -> ProjectKey? {
    all.first { $0.name == name && $0.scopes.contains(scope) }
  }

  /// The names of keys in other tools, in lower case and without hyphens.
  static let otherNames = [
    "cmd": "run", "command": "run", "exec": "run", "script": "run",
    "cwd": "directory", "dir": "directory", "workdir": "directory",
    "workingdirectory": "directory", "environment": "env",
    "files": "watch", "paths": "watch", "sources": "watch", "inputs": "watch",
    "extensions": "exts", "exclude": "ignore", "include": "filter",
    "depends": "after", "dependson": "after", "deps": "after", "needs": "after",
    "dependencies": "after", "requires": "after",
  ]

  private static let project = [
    ProjectKey("$schema", in: .project, is: .text, "for editors; what --schema prints"),
    ProjectKey(
      "jobs", in: .project, is: .count,
      "how many tasks may run side by side; default: the number of cores"),
    ProjectKey("tasks", in: .project, is: .tasks, "the tasks and pages, by their names"),
  ]

  private static let commands = [
    ProjectKey(
      "run", in: .task, is: .command, "a line for the shell, or a list that is executed directly"),
    ProjectKey("directory", in: .task, is: .text, "where it is run; default: where watchrun is"),
    ProjectKey("env", in: .task, is: .variables, "variables for its environment"),
  ]

  private static let triggers = [
    ProjectKey(
      "watch", in: .task, is: .texts,
      "files and folders; default: the folder, but nothing for what stands after others"),
    ProjectKey("exts", in: .task, is: .extensions, "only files with these extensions"),
    ProjectKey(
      "filter", in: .task, is: .globs, "only paths that match, in gitignore syntax"),
    ProjectKey(
      "ignore", in: .project, .task, is: .globs,
      "not paths that match; at the top: for every task"),
    ProjectKey(
      "events", in: .task, is: .choices(OptionTable.kindNames.map(\.key)),
      "only these kinds of change; default: all but metadata"),
    ProjectKey(
      "after", in: .task, .page, is: .taskNames, "the tasks that must have succeeded before"),
  ]

  private static let course = [
    ProjectKey("service", in: .task, is: .flag, "it is to run on, as a server does"),
    ProjectKey(
      "ready", in: .task, is: .readiness, "by what it is known that a service can be used"),
    ProjectKey(
      "onBusy", in: .task, is: .choice(Settings.BusyMode.allCases.map(\.rawValue)),
      "on a change during a run; default: queue, for a service restart"),
    ProjectKey("stopSignal", in: .task, is: .signal, "how it is asked to end; default: TERM"),
    ProjectKey(
      "stopTimeout", in: .task, is: .duration, "how long it may take to; default: 10s"),
    ProjectKey("timeout", in: .task, is: .duration, "a run that takes longer has failed"),
    ProjectKey(
      "keepAlive", in: .task, is: .flag, "it is started again when it ends; a service is anyway"),
    ProjectKey("postpone", in: .task, is: .flag, "it is not run at the start"),
    ProjectKey("onSuccess", in: .task, is: .text, "a line for the shell after a run that succeeds"),
    ProjectKey("onFailure", in: .task, is: .text, "a line for the shell after a run that fails"),
  ]

  private static let pages = [
    ProjectKey("serve", in: .page, is: .text, "the directory to serve"),
    ProjectKey(
      "proxy", in: .page, is: .portOrURL, "the port or URL of the server behind the page"),
    ProjectKey(
      "port", in: .page, is: .port, "port of the page; default: the first free one from 8080 on"),
    ProjectKey(
      "host", in: .page, is: .hosts, "addresses to listen on; default: this computer only"),
    ProjectKey(
      "reload", in: .page, is: .texts,
      "files and directories whose changes reload the page, beside the served directory"),
    ProjectKey(
      "fallback", in: .page, is: .text, "the file to serve where there is none, as in index.html"),
    ProjectKey("overlay", in: .page, is: .flag, "show failures in the page; default: true"),
    ProjectKey(
      "listing", in: .page, is: .flag, "list directories without index.html; default: false"),
    ProjectKey(
      "dotfiles", in: .page, is: .flag,
      "serve files whose names begin with a dot; default: false"),
  ]

  private static let readiness = [
    ProjectKey("port", in: .readiness, is: .port, "it accepts connections on this port"),
    ProjectKey("url", in: .readiness, is: .url, "it answers there with a status below 500"),
    ProjectKey("line", in: .readiness, is: .text, "it prints a line that holds this text"),
    ProjectKey(
      "timeout", in: .readiness, is: .duration, "it has failed if it takes longer; default: 30s"),
  ]
}

extension ProjectKey.Kind {
  /// The expected value with an example, to follow "must be".
  var expectation: String {
    switch self {
    case .flag: "true or false"
    case .count: "an integer from 1 to 10000, as in 4"
    case .port: "a port from 1 to 65535, as in 8080"
    case .portOrURL: #"a port or a URL, as in 8080 or "http://localhost:8080""#
    case .url: #"a URL, as in "http://localhost:8080/health""#
    case .text: "a string that is not empty"
    case .command: #"a shell line or an array of words, as in "make test" or ["make", "test"]"#
    case .duration: #"a duration, as in "50ms", "1.5s" or "2m""#
    case .signal: #"a signal, as in "TERM""#
    case .choice(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .choices(let names): "an array of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .texts: #"an array of paths, as in ["Sources"]"#
    case .hosts: #"an array of addresses, as in ["0.0.0.0"]"#
    case .globs: #"an array of patterns, as in ["docs/**"]"#
    case .extensions: #"an array of extensions, as in ["swift", "md"]"#
    case .taskNames: #"an array of task names, as in ["build"]"#
    case .variables: #"an object of strings, as in { PORT: "8080" }"#
    case .readiness: #"an object, as in { port: 8080, timeout: "10s" }"#
    case .tasks: #"an object of tasks, as in { build: { run: "make" } }"#
    }
  }
}
