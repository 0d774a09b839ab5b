import SystemCalls

/// The decision of a filter on a path, and the rule that made it.
public struct FilterDecision: Sendable, Hashable {
  /// Whether changes of the path are reported.
  public let isIncluded: Bool
  /// The rule that decided; `nil` if no rule matches. Then the path is included, unless it is one that the
  /// observer's process itself writes.
  public let rule: Rule?

  /// The decision on a path that no rule matches.
  static let unmatched = FilterDecision(isIncluded: true, rule: nil)
  /// The decision on a path that is treated as if it did not exist.
  static let hidden = FilterDecision(isIncluded: false, rule: nil)

  /// A pattern, and where it is from.
  public struct Rule: Sendable, Hashable {
    /// The file or list that contains the rule.
    public let source: Source
    /// The number of its line in the file, or its position in the list, from 1.
    public let line: Int
    /// The pattern. It ignores, or includes if it starts with `!`.
    public let pattern: [UInt8]

    package init(source: Source, line: Int, pattern: [UInt8]) {
      (self.source, self.line, self.pattern) = (source, line, pattern)
    }
  }

  /// The origin of a rule.
  public enum Source: Sendable, Hashable {
    /// The built-in list.
    case builtIn
    /// A parameter of the filter.
    case parameter(Parameter)
    /// An ignore file. The path is as git shows it: relative to the repository's root, or else
    /// absolute. It is not for opening the file.
    case file(Path)
  }

  /// The parameters of a ``PathFilter`` that contain patterns.
  ///
  /// `filter` and `extensions` select paths, while a ``Rule`` ignores them. Their rules are
  /// therefore those of the equivalent ignore file: the filter `*.c`, `!x.c` has the rules `*`,
  /// `!*.c`, `x.c`. The `*`, which ignores all paths that are not selected, has the line number 0.
  public enum Parameter: String, Sendable, Hashable {
    /// The ignore patterns.
    case ignore
    /// The filter patterns.
    case filter
    /// The file name extensions.
    case extensions
  }
}

extension FilterDecision.Source: CustomStringConvertible {
  /// The source in bytes, since a path need not be UTF-8.
  public var bytes: [UInt8] {
    switch self {
    case .builtIn: Array("built-in".utf8)
    case .parameter(let parameter): Array(parameter.rawValue.utf8)
    case .file(let path): path.bytes
    }
  }

  /// The source for people, as in `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

extension FilterDecision.Rule: CustomStringConvertible {
  /// `source:line:pattern` in bytes.
  public var bytes: [UInt8] {
    source.bytes + Array(":\(line):".utf8) + pattern
  }

  /// `source:line:pattern` for people, as in `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

extension FilterDecision: CustomStringConvertible {
  /// The decision as `git check-ignore -v -n` prints it before the path, in bytes:
  /// `source:line:pattern`, or `::` without a rule.
  public var bytes: [UInt8] { rule?.bytes ?? [UInt8(ascii: ":"), UInt8(ascii: ":")] }

  /// The decision as `git check-ignore -v -n` prints it, for people, as in `Path.description`.
  public var description: String { Path(bytes: bytes).description }
}

// Clients need the types of a decision's properties, and need not know the module that defines
// them.
@_exported import struct SystemCalls.Path
// The compiler needs the spaces.
// swift-format-ignore
@_exported import func SystemCalls . /
@_exported import struct SystemCalls.SystemError
