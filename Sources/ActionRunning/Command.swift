import FileObservation
import SystemCalls

/// A command to run, and how it learns what has changed.
public struct Command: Sendable, Hashable {
  /// How the words become a process.
  public enum Form: Sendable, Hashable {
    /// The first word is the program, the others are its arguments.
    case direct
    /// The words, with a space between them, are a line for this shell.
    case shell([UInt8])
  }

  /// The words, as bytes.
  public var words: [[UInt8]]
  /// How the words become a process.
  public var form: Form
  /// What is added to the environment.
  public var environment: [EnvironmentVariable]
  /// Where it runs; the current folder if there is none.
  public var directory: Path?
  /// How it learns what has changed.
  public var changeDelivery = Command.ChangeDelivery.environment
  /// False to give it `/dev/null` as standard input instead of our own.
  public var inheritsStandardInput: Bool
  /// True to give it the terminal, so that it can read keys and has the signals of Ctrl-C and Ctrl-Z.
  public var takesTerminal = false
  /// What stands for `/_` as long as nothing has changed; if nil, `/_` is left out then.
  public var firstPathAtStart: Path?

  /// A variable, as bytes.
  public struct EnvironmentVariable: Sendable, Hashable {
    /// What comes before the first `=`.
    public let name: [UInt8]
    /// What comes after it.
    public let value: [UInt8]

    /// A variable of this name, in which there must be no `=`.
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

  /// A command of these words.
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

  /// A command of these words, executed directly.
  public init(_ words: String...) {
    self.init(words: words.map { Array($0.utf8) })
  }
}
