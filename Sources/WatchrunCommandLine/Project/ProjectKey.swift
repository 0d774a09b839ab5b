import FileObservation

/// A key of the project file: the objects in which it may occur, the type of its value, and its help.
///
/// The reader, the schema and the manual are based on this list.
struct ProjectKey: Hashable, Sendable {
  /// The objects in which keys occur.
  enum Scope: String, CaseIterable, Sendable {
    case project
    case task
    case page
    case readiness = "ready"
  }

  /// The type of the value of a key. A single string stands for an array of one string.
  enum Kind: Hashable, Sendable {
    case boolean
    case count
    case port
    case servers
    case url
    case string
    case command
    case duration
    case positiveDuration
    case quietPeriod
    case polling
    case shell
    case signal
    case choice([String])
    case choices([String])
    case paths
    case hosts
    case globs
    case extensions
    case taskNames
    case variables
    case headers
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
  static let all: [ProjectKey] =
    project + defaults + commands + triggers + course + pages + readiness

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
    "extensions": "exts", "ext": "exts", "exclude": "ignore", "include": "filter",
    "depends": "after", "dependson": "after", "deps": "after", "needs": "after",
    "dependencies": "after", "requires": "after", "delay": "debounce", "interval": "poll",
  ]

  private static let project = [
    ProjectKey("$schema", in: .project, is: .string, "address of the schema, for editors"),
    ProjectKey(
      "jobs", in: .project, is: .count,
      "maximum number of tasks that run at once (default: number of cores)"),
    ProjectKey("tasks", in: .project, is: .tasks, "tasks and pages, by name"),
  ]

  // Options of the command line. One that is given replaces the key.
  private static let defaults = [
    ProjectKey(
      "debounce", in: .project, is: .quietPeriod,
      "quiet period before a run, or \"auto\" (default: auto)"),
    ProjectKey(
      "poll", in: .project, is: .polling,
      "true or an interval: poll instead of using kernel events"),
    ProjectKey(
      "skipUnchanged", in: .project, is: .boolean,
      "ignore changes that leave a file's content as it was"),
    ProjectKey("clear", in: .project, is: .boolean, "clear the screen before each round"),
    ProjectKey(
      "color", in: .project, is: .choice(ColorMode.allCases.map(\.rawValue)),
      "when to color messages (default: auto)"),
    ProjectKey(
      "notify", in: .project, is: .choice(NotifyMode.names),
      "rounds after which the desktop is notified (default: never)"),
    ProjectKey(
      "diagnostics", in: .project, is: .string,
      "file in which errors and warnings are kept, for editors"),
  ]

  private static let commands = [
    ProjectKey(
      "run", in: .task, is: .command,
      "shell line, or array of a program and its arguments"),
    ProjectKey(
      "directory", in: .task, is: .string, "working directory (default: that of watchrun)"),
    ProjectKey(
      "shell", in: .project, .task, is: .shell,
      "shell for shell lines (default: sh); at the top level, for all tasks"),
    ProjectKey("env", in: .task, is: .variables, "environment variables of the command"),
  ]

  private static let triggers = [
    ProjectKey(
      "watch", in: .task, is: .paths,
      "files and directories to watch (default: \".\", or none in a task with 'after')"),
    ProjectKey("exts", in: .task, is: .extensions, "only files with these extensions"),
    ProjectKey("filter", in: .task, is: .globs, "only paths that match (gitignore syntax)"),
    ProjectKey(
      "ignore", in: .project, .task, is: .globs,
      "ignore paths that match (gitignore syntax); at the top level, for all tasks"),
    ProjectKey(
      "events", in: .task, is: .choices(ChangeBatch.Kind.names),
      "only these kinds of change (default: all but metadata)"),
    ProjectKey(
      "after", in: .task, .page, is: .taskNames, "tasks that must succeed before this one"),
  ]

  private static let course = [
    ProjectKey(
      "service", in: .task, is: .boolean,
      "the command keeps running, as a server does, and is restarted a few times if it exits"),
    ProjectKey("ready", in: .task, is: .readiness, "readiness check of a service"),
    ProjectKey(
      "onBusy", in: .task, is: .choice(BusyMode.allCases.map(\.rawValue)),
      "action on a change during a run (default: queue; for a service: restart)"),
    ProjectKey(
      "stopSignal", in: .task, is: .signal, "signal that stops the command (default: TERM)"),
    ProjectKey(
      "stopTimeout", in: .task, is: .duration,
      "kill the command this long after the stop signal (default: 10s)"),
    ProjectKey(
      "timeout", in: .task, is: .positiveDuration, "stop a longer run; it counts as failed"),
    ProjectKey(
      "keepAlive", in: .task, is: .boolean, "as service, but restarted however often it exits"),
    ProjectKey(
      "output", in: .project, .task, is: .choice(OutputMode.names),
      "print the output of all runs, or only of failed ones (default: all); "
        + "at the top level, for all tasks"),
    ProjectKey(
      "pty", in: .task, is: .boolean,
      "give the command a pseudo-terminal (default: if the output is shown in a terminal)"),
    ProjectKey(
      "interactive", in: .task, is: .boolean, "give the terminal to the command while it runs"),
    ProjectKey("postpone", in: .task, is: .boolean, "do not run at the start"),
    ProjectKey("onSuccess", in: .task, is: .string, "shell line to run after a successful run"),
    ProjectKey("onFailure", in: .task, is: .string, "shell line to run after a failed run"),
  ]

  private static let pages = [
    ProjectKey("serve", in: .page, is: .string, "directory to serve"),
    ProjectKey(
      "proxy", in: .page, is: .servers,
      "port or URL of the server behind the page; or an object of paths, each with its server"),
    ProjectKey(
      "port", in: .page, is: .port, "port of the page (default: first free port from 8080)"),
    ProjectKey(
      "host", in: .page, is: .hosts, "addresses to listen on (default: this computer only)"),
    ProjectKey(
      "reload", in: .page, is: .paths,
      "more files and directories whose changes reload the page"),
    ProjectKey(
      "fallback", in: .page, is: .string, "file to serve for missing paths, as in index.html"),
    ProjectKey(
      "headers", in: .page, is: .headers,
      "header fields to add to all answers, in place of those of the same name"),
    ProjectKey("overlay", in: .page, is: .boolean, "show failures in the page (default: true)"),
    ProjectKey(
      "console", in: .page, is: .boolean,
      "print errors and warnings of the page's console (default: true at a terminal)"),
    ProjectKey(
      "listing", in: .page, is: .boolean,
      "list directories that have no index.html (default: false)"),
    ProjectKey(
      "dotfiles", in: .page, is: .boolean,
      "serve files whose names begin with a dot (default: false)"),
  ]

  private static let readiness = [
    ProjectKey(
      "port", in: .readiness, is: .port, "ready when this port accepts connections"),
    ProjectKey(
      "url", in: .readiness, is: .url,
      "ready when this http:// URL answers with a status below 500"),
    ProjectKey(
      "line", in: .readiness, is: .string, "ready when a line of output contains this text"),
    ProjectKey(
      "timeout", in: .readiness, is: .positiveDuration,
      "the service counts as failed if it is not ready by then (default: 30s)"),
    ProjectKey(
      "existing", in: .readiness, is: .boolean,
      "start it though another process answers already (default: false)"),
  ]
}

extension ProjectKey.Kind {
  /// The expected value with an example, to follow "must be".
  var expectation: String {
    switch self {
    case .boolean: "true or false"
    case .count: "an integer from 1 to 10000"
    case .port: "a port from 1 to 65535, as in 8080"
    case .servers:
      #"a port, a URL or an object of them, as in 8080, "http://localhost:8080" or { "/api": 8080 }"#
    case .url: #"a URL, as in "http://localhost:8080/health""#
    case .string: "a string that is not empty"
    case .command: #"a shell line or an array of words, as in "make test" or ["make", "test"]"#
    case .duration, .positiveDuration: #"a duration, as in "50ms", "1.5s" or "2m""#
    case .quietPeriod: #"a duration or "auto", as in "50ms""#
    case .polling: #"true, false or an interval, as in "2s""#
    case .shell: #"the name or path of a shell, as in "bash""#
    case .signal: #"a signal, as in "TERM""#
    case .choice(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .choices(let names): "an array of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .paths: #"a path or an array of paths, as in ["Sources"]"#
    case .hosts: #"an address or an array of addresses, as in ["0.0.0.0"]"#
    case .globs: #"a pattern or an array of patterns, as in ["docs/**"]"#
    case .extensions: #"an extension or an array of extensions, as in ["swift", "md"]"#
    case .taskNames: #"a task name or an array of task names, as in ["build"]"#
    case .variables: #"an object of strings, as in { PORT: "8080" }"#
    case .headers: #"an object of strings, as in { "Cache-Control": "no-store" }"#
    case .readiness: #"an object, as in { port: 8080, timeout: "10s" }"#
    case .tasks: #"an object of tasks, as in { build: { run: "make" } }"#
    }
  }
}
