import SystemCalls

/// A kind of value of options and keys, for everything that describes or suggests values: what is
/// expected in words, the placeholder, what shells suggest, and the JSON schema. ``ValueType`` reads
/// values.
///
/// In JSON, a single string stands for an array of one string.
enum ValueKind: Hashable, Sendable {
  /// An option of this kind takes no value.
  case boolean
  case count(ClosedRange<Int>)
  case port
  /// A port or `auto`.
  case portOrAuto
  /// A port, an address with a port, or `auto`.
  case listenAddress
  /// The address of a server, or one for each of some paths.
  case servers
  case url
  /// Statuses of HTTP.
  case statuses
  case string
  case file
  case directory
  /// A shell line, or words.
  case command
  case shellLine
  case duration
  case positiveDuration
  /// A duration or `auto`.
  case quietPeriod
  /// Whether to poll, or the interval.
  case polling
  /// The name of a shell, or `none`.
  case shell
  case signal
  /// One of these words.
  case choice([String])
  /// One or more of these words; in text, separated by commas.
  case choices([String])
  case paths
  /// Files that must exist.
  case files
  case hosts
  /// Patterns in gitignore syntax.
  case globs
  /// Extensions of files; in text, separated by commas.
  case extensions
  case taskNames
  /// `NAME=VALUE`, or an object of them.
  case variables
  /// `NAME: VALUE`, or an object of them.
  case headers
  /// Paths by regular expressions.
  case testMap
  /// The object `ready`.
  case readiness
  /// The object `tasks`.
  case tasks
}

extension ValueKind {
  /// The expected value in JSON with an example, to follow "must be".
  var expectation: String {
    switch self {
    case .boolean: "true or false"
    case .count(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
    case .port: "a port from 1 to 65535, as in 8080"
    case .portOrAuto: #"a port or "auto", as in 8080"#
    case .listenAddress: #"a port, an address with a port or "auto", as in 8080 or "0.0.0.0:8080""#
    case .servers:
      #"a port, a URL, a task with a port or an object of them, as in 8080, "http://localhost:8080" or { "/api": 8080 }"#
    case .statuses: "a status of HTTP or an array of them, as in [200, 204]"
    case .url: #"a URL, as in "http://localhost:8080/health""#
    case .string, .file, .directory, .shellLine: "a string that is not empty"
    case .command: #"a shell line or an array of words, as in "make test" or ["make", "test"]"#
    case .duration, .positiveDuration: #"a duration, as in "50ms", "1.5s" or "2m""#
    case .quietPeriod: #"a duration or "auto", as in "50ms""#
    case .polling: #"true, false or an interval, as in "2s""#
    case .shell: #"the name or path of a shell, as in "bash""#
    case .signal: #"a signal, as in "TERM""#
    case .choice(let names): "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .choices(let names): "an array of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    case .paths: #"a path or an array of paths, as in ["Sources"]"#
    case .files: #"a file or an array of files, as in ".env""#
    case .hosts: #"an address or an array of addresses, as in ["0.0.0.0"]"#
    case .globs: #"a pattern or an array of patterns, as in ["docs/**"]"#
    case .extensions: #"an extension or an array of extensions, as in ["swift", "md"]"#
    case .taskNames: #"a task name or an array of task names, as in ["build"]"#
    case .variables: #"an object of strings, as in { PORT: "8080" }"#
    case .headers: #"an object of strings, as in { "Cache-Control": "no-store" }"#
    case .testMap:
      #"an object of patterns with paths, as in { "src/(.*)[.]py": "tests/test_$1.py" }"#
    case .readiness: #"an object, as in { port: 8080, timeout: "10s" }"#
    case .tasks: #"an object of tasks, as in { build: { run: "make" } }"#
    }
  }

  /// What stands for the value in the help, unless an option says otherwise; empty for none.
  var placeholder: String {
    switch self {
    case .boolean, .url, .statuses, .string, .command, .testMap, .readiness, .tasks: ""
    case .count: "N"
    case .port, .portOrAuto: "PORT"
    case .listenAddress: "[HOST:]PORT"
    case .servers: "URL"
    case .file, .files: "FILE"
    case .directory: "DIR"
    case .shellLine: "COMMAND"
    case .duration, .positiveDuration, .quietPeriod, .polling: "TIME"
    case .shell: "SHELL"
    case .signal: "SIGNAL"
    case .choice: "MODE"
    case .choices, .extensions: "LIST"
    case .paths: "PATH"
    case .hosts: "ADDRESS"
    case .globs: "GLOB"
    case .taskNames: "NAME"
    case .variables: "NAME=VALUE"
    case .headers: "FIELD"
    }
  }

  /// The words that shells suggest; empty where they are not known beforehand.
  var words: [String] {
    switch self {
    case .choice(let words), .choices(let words): words
    case .signal: Signal.names
    case .shell: ["bash", "dash", "fish", "none", "sh", "zsh"]
    default: []
    }
  }
}
