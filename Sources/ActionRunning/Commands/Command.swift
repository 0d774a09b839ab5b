import FileObservation
import SystemCalls

/// A command to run, and how it receives the list of changes.
public struct Command: Sendable, Hashable {
  /// How the words become a process.
  public enum Form: Sendable, Hashable {
    /// The first word is the program, the others are its arguments.
    case direct
    /// The words, joined by spaces, are a command line for this shell.
    case shell([UInt8])
  }

  /// The words, as bytes. Some are placeholders: `{}` for all changed paths, `{first}` for the first one,
  /// and `/_` as in entr.
  public var words: [[UInt8]]
  /// How the words become a process.
  public var form: Form
  /// Variables that are added to the environment of this process.
  public var environment: [EnvironmentVariable]
  /// The directory in which the command runs; `nil` for the current directory.
  public var directory: Path?
  /// How the command receives the list of changes.
  public var changeDelivery = Command.ChangeDelivery.environment
  /// Whether the command inherits standard input. Otherwise it reads `/dev/null`.
  public var inheritsStandardInput: Bool
  /// Whether the command gets the terminal: it can read keys, and receives the signals of Ctrl-C and Ctrl-Z.
  public var takesTerminal = false
  /// The replacement for `/_` in a run without changes; with `nil`, the word is removed.
  public var firstPathAtStart: Path?

  /// An environment variable, as bytes.
  public struct EnvironmentVariable: Sendable, Hashable {
    /// The name, before the first `=`.
    public let name: [UInt8]
    /// The value, after the first `=`.
    public let value: [UInt8]

    /// Creates a variable. The name must not contain `=`.
    public init(name: [UInt8], value: [UInt8]) {
      self.name = name
      self.value = value
    }

    init(_ name: String, _ value: [UInt8]) {
      self.init(name: Array(name.utf8), value: value)
    }

    init(_ name: String, _ value: String) {
      self.init(name, Array(value.utf8))
    }
  }

  /// Creates a command from words.
  public init(
    words: [[UInt8]], form: Form = .direct, environment: [EnvironmentVariable] = [],
    directory: Path? = nil, inheritsStandardInput: Bool = true
  ) {
    self.words = words
    self.form = form
    self.environment = environment
    self.directory = directory
    self.inheritsStandardInput = inheritsStandardInput
  }

  /// Creates a command from a program and its arguments, which is executed without a shell.
  public init(_ words: String...) {
    self.init(words: words.map { Array($0.utf8) })
  }
}
