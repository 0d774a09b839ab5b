import Support
import SystemCalls

/// A kind of value of options and keys, with all that describes or suggests values. ``ValueType`` reads them.
///
/// In JSON, a single string stands for an array of one string.
struct ValueKind: Hashable, Sendable {
  /// The expected value in JSON with an example, to follow "must be".
  let expectation: String
  /// What stands for the value in the help, unless an option says otherwise; empty for none.
  let placeholder: String
  /// The keywords of its JSON schema, without the braces. They say the type; what a text must be, the reader says.
  let schema: String
  let suggestion: Suggestion
  /// The words that shells suggest; empty where they are not known beforehand.
  let words: [String]

  private init(
    _ expectation: String, _ placeholder: String = "", _ schema: String = text,
    _ suggestion: Suggestion = .text, words: [String] = []
  ) {
    (self.expectation, self.placeholder, self.schema) = (expectation, placeholder, schema)
    (self.suggestion, self.words) = (suggestion, words)
  }
}

// MARK: - The kinds

extension ValueKind {
  /// An option of this kind takes no value.
  static let boolean = ValueKind("true or false", "", #""type": "boolean""#)
  static func count(_ range: ClosedRange<Int>) -> ValueKind {
    ValueKind(
      "an integer from \(range.lowerBound) to \(range.upperBound)", "N", integer(range))
  }
  static let port = ValueKind("a port from 1 to 65535, as in 8080", "PORT", integer(1...65535))
  static let portOrAuto = ValueKind(
    #"a port or "auto", as in 8080"#, "PORT", anyOf(#""const": "auto""#, port.schema))
  static let listenAddress = ValueKind(
    #"a port, an address with a port or "auto", as in 8080 or "0.0.0.0:8080""#, "[HOST:]PORT",
    anyOf(port.schema, text))
  /// The address of a server, or one for each of some paths.
  static let servers = ValueKind(
    #"a port, a URL, a task with a port or an object of them, as in 8080, "http://localhost:8080" or { "/api": 8080 }"#,
    "URL", anyOf(port.schema, text, object(of: anyOf(port.schema, text))))
  static let url = ValueKind(#"a URL, as in "http://localhost:8080/health""#)
  static let statuses = ValueKind(
    "a status of HTTP or an array of them, as in [200, 204]", "", oneOrMore(integer(100...599)))

  static let string = ValueKind("a string that is not empty")
  static let file = ValueKind(string.expectation, "FILE", text, .path)
  static let directory = ValueKind(string.expectation, "DIR", text, .directory)
  static let shellLine = ValueKind(string.expectation, "COMMAND", text, .command)
  static let command = ValueKind(
    #"a shell line or an array of words, as in "make test" or ["make", "test"]"#, "",
    oneOrMore(text))

  static let duration = ValueKind(#"a duration, as in "50ms", "1.5s" or "2m""#, "TIME")
  static let quietPeriod = ValueKind(#"a duration or "auto", as in "50ms""#, "TIME")
  static let polling = ValueKind(
    #"true, false or an interval, as in "2s""#, "TIME", anyOf(boolean.schema, text))

  static let shell = ValueKind(
    #"the name or path of a shell, as in "bash""#, "SHELL", text, .words,
    words: ["bash", "dash", "fish", "none", "sh", "zsh"])
  static let signal = ValueKind(
    #"a signal, as in "TERM""#, "SIGNAL", text, .words, words: Signal.names)
  static func choice(_ words: [String]) -> ValueKind {
    ValueKind("one of \(list(words))", "MODE", #""enum": [\#(list(words))]"#, .words, words: words)
  }
  /// One or more of these words; in text, separated by commas.
  static func choices(_ words: [String]) -> ValueKind {
    ValueKind(
      "an array of \(list(words))", "LIST", oneOrMore(choice(words).schema), .list, words: words)
  }

  static let paths = ValueKind(
    #"a path or an array of paths, as in ["Sources"]"#, "PATH", oneOrMore(text), .path)
  /// Files that must exist.
  static let files = ValueKind(
    #"a file or an array of files, as in ".env""#, "FILE", oneOrMore(text), .path)
  static let hosts = ValueKind(
    #"an address or an array of addresses, as in ["0.0.0.0"]"#, "ADDRESS", oneOrMore(text), .hosts)
  static let globs = ValueKind(
    #"a pattern or an array of patterns, as in ["docs/**"]"#, "GLOB", oneOrMore(text))
  /// Extensions of files; in text, separated by commas.
  static let extensions = ValueKind(
    #"an extension or an array of extensions, as in ["swift", "md"]"#, "LIST", oneOrMore(text))
  static let taskNames = ValueKind(
    #"a task name or an array of task names, as in ["build"]"#, "NAME", oneOrMore(text), .tasks)

  static let variables = ValueKind(
    #"an object of strings, as in { PORT: "8080" }"#, "NAME=VALUE", object(of: text))
  static let headers = ValueKind(
    #"an object of strings, as in { "Cache-Control": "no-store" }"#, "FIELD", object(of: text))
  static let testMap = ValueKind(
    #"an object of patterns with paths, as in { "src/(.*)[.]py": "tests/test_$1.py" }"#, "",
    object(of: oneOrMore(text)))
  static let readiness = ValueKind(
    #"an object, as in { port: 8080, timeout: "10s" }"#, "", ##""$ref": "#/$defs/ready""##)
  static let tasks = ValueKind(
    #"an object of tasks, as in { build: { run: "make" } }"#, "",
    object(of: ##""anyOf": [{ "$ref": "#/$defs/task" }, { "$ref": "#/$defs/page" }]"##))
}

// MARK: - Schemas

extension ValueKind {
  private static let text = #""type": "string""#

  private static func integer(_ range: ClosedRange<Int>) -> String {
    #""type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#
  }

  private static func anyOf(_ schemas: String...) -> String {
    #""anyOf": [\#(schemas.map { "{ \($0) }" }.joined(separator: ", "))]"#
  }

  /// One value, or an array of such values.
  private static func oneOrMore(_ schema: String) -> String {
    anyOf(schema, #""type": "array", "items": { \#(schema) }"#)
  }

  private static func object(of schema: String) -> String {
    #""type": "object", "additionalProperties": { \#(schema) }"#
  }

  private static func list(_ words: [String]) -> String {
    words.map { JSONWriter.quoted($0) }.joined(separator: ", ")
  }
}

// MARK: - Completions

extension ValueKind {
  /// What shells suggest for values: in the scripts for bash, zsh and fish. `%` stands for the words.
  struct Suggestion: Hashable, Sendable {
    let bash, zsh, fish: String

    static let text = Suggestion(bash: "text", zsh: " ", fish: "-x")
    static let path = Suggestion(bash: "path", zsh: "_files", fish: "-r -F")
    static let directory = Suggestion(
      bash: "directory", zsh: "_directories", fish: "-x -a '(__fish_complete_directories)'")
    static let command = Suggestion(
      bash: "command", zsh: "_cmdstring", fish: "-x -a '(__fish_complete_command)'")
    static let tasks = Suggestion(
      bash: "task", zsh: "_watchrun_tasks",
      fish: "-x -a '(watchrun --list-tasks 2>/dev/null | string match -r \"^\\S+\")'")
    static let hosts = Suggestion(
      bash: "text", zsh: "_hosts", fish: "-x -a '(__fish_print_hostnames)'")
    static let list = Suggestion(
      bash: "list:%", zsh: "_sequence compadd - %", fish: "-x -a '(__watchrun_list %)'")
    static let words = Suggestion(bash: "words:%", zsh: "(%)", fish: "-x -a '%'")
  }

  func completion(_ shell: KeyPath<Suggestion, String>) -> String {
    suggestion[keyPath: shell].filled(with: words.joined(separator: " "))
  }
}

extension String {
  /// The text, in which `%` stands for another one.
  func filled(with text: String) -> String { map { $0 == "%" ? text : String($0) }.joined() }
}
