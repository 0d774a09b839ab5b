/// An option of the command line.
struct Option: Hashable, Sendable {
  /// A heading of the help.
  enum Group: String, CaseIterable, Sendable {
    case watching = "Watching"
    case filtering = "Filtering"
    case timing = "Timing"
    case running = "Running the command"
    case page = "Page"
    case project = "Project (without a command)"
    case session = "Asking a running session"
    case output = "Output"
  }

  /// What an option needs, or excludes, to have a meaning. Without any of these, it has one everywhere
  /// but in a question to a session.
  struct Scope: OptionSet, Hashable {
    let rawValue: Int

    /// Needs a command; tasks have no use for it.
    static let command = Scope(rawValue: 1)
    /// Needs a command or tasks.
    static let run = Scope(rawValue: 2)
    /// Is about the results of runs, or a run beside the command.
    static let results = Scope(rawValue: 4)
    /// Needs a page.
    static let page = Scope(rawValue: 8)
    /// Needs a directory that is served.
    static let files = Scope(rawValue: 16)
    /// Excludes a command and a page.
    static let project = Scope(rawValue: 32)
    /// Prints an answer and runs nothing.
    static let answer = Scope(rawValue: 64)
    /// Asks a session, or may accompany such a question.
    static let session = Scope(rawValue: 128)
  }

  /// An effect that another option would not have beside this one.
  struct Conflict: Hashable, Sendable {
    let others: [String]
    /// What this option does, and what the others then do: "ends after the first run".
    let reason: String
    var consequence = "has no effect"
  }

  let short: Character?
  /// The name without dashes.
  let long: String
  let kind: ValueKind
  /// The placeholder of its value in the help, such as `PATH`; `nil` for an option without a value.
  let value: String?
  /// Whether the option may be given without a value. A value must then follow an equals sign.
  let isValueOptional: Bool
  let group: Group
  let scope: Scope
  /// An imperative or noun phrase without a full stop, which can be understood by itself.
  let help: String
  /// The value that applies without the option, where there is one worth saying.
  let defaultValue: String?
  /// Whether each further use adds to the ones before it, instead of replacing them.
  let isRepeatable: Bool
  /// The key that does the same for one task, where the option cannot do it for all.
  let taskKey: String?
  let conflicts: [Conflict]
}

extension Option.Group {
  /// What all options of the group need.
  var scope: Option.Scope {
    switch self {
    case .running: .run
    case .page: .page
    case .session: .session
    case .watching, .filtering, .timing, .project, .output: []
    }
  }
}

extension Option {
  /// The option that a word names, such as `-w` or `--watch`.
  static func named(_ word: some StringProtocol) -> Option? {
    Setting.options.first { $0.names.contains { $0 == word } }
  }

  /// Its help within a sentence.
  var phrase: String { help.prefix(1).lowercased() + help.dropFirst() }

  var names: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

  /// The long name with its value: `--watch PATH`, `--poll[=TIME]`, `--clear`.
  var usage: String { "--\(long)" + valueUsage }

  /// The placeholder as it follows a name: ` PATH`, `[=TIME]`, or nothing.
  var valueUsage: String { value.map { isValueOptional ? "[=\($0)]" : " \($0)" } ?? "" }

  /// The value in an example of the option's use.
  var example: String { isValueOptional ? "" : valueUsage }
}
