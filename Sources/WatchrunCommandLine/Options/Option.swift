/// One row of the option table: the names of an option, its value, its description, and its effect.
///
/// The parser, the help, the manual and shell completions are made from these rows.
struct Option: Sendable {
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

  /// The value of an option.
  struct Value: Sendable {
    /// What a value means, for completions and the manual.
    enum Kind: Hashable, Sendable {
      case path
      case file
      case directory
      /// One of these words.
      case choice([String])
      /// One or more of these words, separated by commas.
      case choices([String])
      case duration
      case signal
      /// A command line for a shell.
      case shellLine
      /// The name of a shell, or `none`.
      case shell
      /// A pattern in gitignore syntax.
      case pattern
      /// Extensions of files, separated by commas.
      case extensions
      /// `NAME=VALUE`.
      case variable
      /// The name of a task.
      case task
      /// The address of a server.
      case server
      case port
      case host
      /// `NAME: VALUE`.
      case header
      case count
    }

    /// The placeholder in the help, such as `PATH`.
    let name: String
    let kind: Kind
    /// Whether the option may be given without a value. A value must then follow an equals sign.
    let isOptional: Bool

    init(_ name: String, _ kind: Kind, isOptional: Bool = false) {
      self.name = name
      self.kind = kind
      self.isOptional = isOptional
    }
  }

  typealias Apply = @Sendable (inout Settings, _ value: [UInt8]) throws(UsageError) -> Void

  let short: Character?
  /// The name without dashes.
  let long: String
  /// `nil` for an option that takes no value.
  let value: Value?
  let group: Group
  /// An imperative or noun phrase without a full stop, which can be understood by itself.
  let help: String
  /// The value that applies without the option, where there is one worth saying.
  let defaultValue: String?
  /// Whether each further use adds to the ones before it, instead of replacing them.
  let isRepeatable: Bool
  let apply: Apply

  init(
    _ short: Character?, _ long: String, _ value: Value? = nil, _ group: Group, _ help: String,
    default defaultValue: String? = nil, isRepeatable: Bool = false, _ apply: @escaping Apply
  ) {
    self.short = short
    self.long = long
    self.value = value
    self.group = group
    self.help = help
    self.defaultValue = defaultValue
    self.isRepeatable = isRepeatable
    self.apply = apply
  }

  /// The long name with its value: `--watch PATH`, `--poll[=TIME]`, `--clear`.
  var usage: String { "--\(long)" + valueUsage }

  /// The placeholder as it follows a name: ` PATH`, `[=TIME]`, or nothing.
  var valueUsage: String {
    guard let value else { return "" }
    return value.isOptional ? "[=\(value.name)]" : " \(value.name)"
  }
}
