import SystemCalls

/// What was decided on a path, and by which rule.
public struct FilterDecision: Sendable, Hashable {
  /// True if changes of the path are reported.
  public let isIncluded: Bool
  /// The rule that decided; nil if none had anything to say, and so the path is included.
  public let rule: Rule?

  /// Included, since no rule says otherwise.
  static let unmatched = FilterDecision(isIncluded: true, rule: nil)

  init(isIncluded: Bool, rule: Rule?) {
    self.isIncluded = isIncluded
    self.rule = rule
  }

  /// One pattern in one place.
  public struct Rule: Sendable, Hashable {
    /// Where it stands.
    public let source: Source
    /// Its line, or its place in the list, from 1.
    public let line: Int
    /// The pattern. With `!` in front it includes, without it ignores.
    public let pattern: [UInt8]
  }

  /// Where rules come from.
  public enum Source: Sendable, Hashable {
    /// The list that watchrun brings along.
    case builtIn
    /// An option of the command line.
    case option(Option)
    /// A file. The path is for showing, as git shows it: relative to the folder where the
    /// repository begins, or else absolute.
    case file(Path)
  }

  /// The options that hold patterns.
  ///
  /// `--filter` and `--exts` say what passes, while a rule says what is ignored. So they are told as
  /// the ignore file that they amount to: `-f '*.c' -f '!x.c'` is `*`, `!*.c`, `x.c`. The `*` in
  /// front, which refuses what nothing lets pass, is line 0.
  public enum Option: String, Sendable, Hashable {
    /// `-i`.
    case ignore = "--ignore"
    /// `-f`.
    case filter = "--filter"
    /// `-e`.
    case extensions = "--exts"
  }
}

extension FilterDecision.Source: CustomStringConvertible {
  /// The source as it is printed, in bytes: a path need not be text.
  public var bytes: [UInt8] {
    switch self {
    case .builtIn: Array("built-in".utf8)
    case .option(let option): Array(option.rawValue.utf8)
    case .file(let path): path.bytes
    }
  }

  /// The source as it is printed, for people: see `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

extension FilterDecision.Rule: CustomStringConvertible {
  /// `source:line:pattern`, in bytes.
  public var bytes: [UInt8] {
    source.bytes + Array(":\(line):".utf8) + pattern
  }

  /// `source:line:pattern`, for people: see `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

extension FilterDecision: CustomStringConvertible {
  /// What `git check-ignore -v -n` prints before the path, in bytes: `source:line:pattern`, and `::`
  /// if there is no rule.
  public var bytes: [UInt8] { rule?.bytes ?? [Byte.colon, Byte.colon] }

  /// What `git check-ignore -v -n` prints before the path, for people: see `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

// What decisions and rules are about belongs to the module's public face.
@_exported import struct SystemCalls.Path
@_exported import struct SystemCalls.SystemError
