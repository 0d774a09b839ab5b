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

  /// The words, as bytes.
  public var words: [[UInt8]]
  /// How the words become a process.
  public var form: Form
  /// Variables that are added to the environment of this process.
  public var environment: Environment
  /// The directory in which the command runs; `nil` for the current directory.
  public var directory: Path?
  /// How the command receives the list of changes.
  public var changeDelivery = Command.ChangeDelivery.none
  /// Whether some words are placeholders: `{}` for all changed paths, `{first}` for the first one, and
  /// `/_` as in entr.
  public var expandsPlaceholders = false
  /// Which tests replace the word `{tests}`.
  package var testMap: TestMap?
  /// Whether the command is told why it runs, in the variable `WATCHRUN_REASON`, and a hook how the
  /// command has ended. Variables of an outer watchrun are not passed on then.
  public var describesRun = false
  /// Whether the command inherits standard input. Otherwise it reads `/dev/null`, or as a service a pipe that stays
  /// open and empty.
  public var inheritsStandardInput: Bool
  /// Whether it inherits standard input while its task is the only one of the graph.
  package var inheritsStandardInputAlone = false
  /// Variables for runs whose output is read. Those of the environment replace them.
  package var readOutputEnvironment = Environment()
  /// Whether the command gets the terminal: it can read keys, and receives the signals of Ctrl-C and Ctrl-Z.
  /// That takes a process that lends its terminal, which is the command line.
  package var takesTerminal = false
  /// The socket that the command receives as descriptor 3, and from which it accepts connections.
  package var socket: PassedSocket?
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

    /// Creates a variable from strings. The name must not contain `=`.
    public init(_ name: String, _ value: String) {
      self.init(name, Array(value.utf8))
    }

    init(_ name: String, _ value: [UInt8]) {
      self.init(name: Array(name.utf8), value: value)
    }
  }

  /// Environment variables, of which later ones replace earlier ones of the same name.
  public struct Environment: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The variables.
    public var variables: [EnvironmentVariable]

    /// Creates an environment from variables.
    public init(_ variables: [EnvironmentVariable] = []) {
      self.variables = variables
    }

    /// Creates an environment from a dictionary.
    public init(_ variables: [String: String]) {
      self.init(variables.keys.sorted().map { EnvironmentVariable($0, variables[$0] ?? "") })
    }

    /// Creates an environment from a literal, as in `["DEBUG": "1"]`.
    public init(dictionaryLiteral elements: (String, String)...) {
      self.init(elements.map { EnvironmentVariable($0, $1) })
    }
  }

  /// Creates a command from words.
  public init(
    words: [[UInt8]], form: Form = .direct, environment: Environment = Environment(),
    directory: Path? = nil, inheritsStandardInput: Bool = true
  ) {
    self.words = words
    self.form = form
    self.environment = environment
    self.directory = directory
    self.inheritsStandardInput = inheritsStandardInput
  }

  /// The command as the command line runs it: with placeholders, variables, and the list of changes.
  package func describingChanges(by delivery: ChangeDelivery = .environment) -> Command {
    var command = self
    command.changeDelivery = delivery
    (command.expandsPlaceholders, command.describesRun) = (true, true)
    return command
  }

  /// Creates a command from a program and its arguments, which is executed without a shell.
  public init(_ words: String...) {
    self.init(words)
  }

  /// Creates a command from a program and its arguments, which is executed without a shell.
  public init(_ words: [String]) {
    self.init(words: words.map { Array($0.utf8) })
  }

  /// Creates a command from a line for a shell.
  ///
  /// Do not put names of files into the line: pass them as variables, or use ``expandsPlaceholders``.
  public init(shell line: String, with shell: String = "/bin/sh") {
    self.init(words: [Array(line.utf8)], form: .shell(Array(shell.utf8)))
  }
}

extension Command {
  /// How a command receives the list of changes, besides the placeholders among its arguments.
  public enum ChangeDelivery: Sendable, Hashable {
    /// In environment variables, one of which names a file that lists all paths.
    case environment
    /// On standard input: one path per line, or NUL-terminated paths.
    case lines(separatedByNUL: Bool)
    /// On standard input: a JSON object on one line, in the format of `watchrun --print json`.
    case json
    /// Not at all.
    case none

    /// The text for standard input, or `nil` if the list is not delivered there.
    func text(for trigger: RunTrigger, number: Int) -> [UInt8]? {
      switch self {
      case .environment, .none:
        nil
      case .lines(let separatedByNUL):
        Path.lines(trigger.changes.map(\.path), separatedByNUL: separatedByNUL)
      case .json:
        Array((JSONText.object(number, trigger) + "\n").utf8)
      }
    }
  }
}
