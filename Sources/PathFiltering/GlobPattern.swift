import SystemCalls

/// A pattern of the gitignore language, which matches paths as bytes.
///
/// ```swift
/// let pattern: GlobPattern = "*.o"
/// pattern.matches("build/main.o", isDirectory: false)
/// ```
///
/// The language is that of `gitignore(5)`:
///
/// | pattern     | matches |
/// |-------------|---------|
/// | `*` `?`     | any number of bytes · one byte; never a slash |
/// | `[a-c]` `[!x]` `[[:digit:]]` | one byte of a set; never a slash |
/// | `\` x       | x itself |
/// | `**/` `/**/` `/**` | directories at any depth, if the stars are a whole component; elsewhere `**` is `*` |
/// | `/` not at the end | the path from the base directory; a pattern without such a slash matches names at any depth |
/// | `/` at the end | directories only |
/// | `!` in front | negates the pattern: includes paths that an earlier pattern ignores |
/// | `#` in front | a comment |
///
/// Where versions of git differ, this follows git's documentation: `foo**/bar` is `foo*/bar`,
/// unlike in git before 2.52.
public struct GlobPattern: Sendable, Hashable {
  /// The pattern as written, without trailing spaces; `git check-ignore -v` prints this.
  public let text: [UInt8]
  /// Whether the pattern starts with `!`.
  public let isNegated: Bool
  /// Whether the pattern ends with `/`.
  public let matchesDirectoriesOnly: Bool
  /// Whether the pattern has a `/` elsewhere, so that it matches the whole path below its base
  /// directory and not just the last name.
  public let isAnchored: Bool
  /// Whether ASCII letters match regardless of case. As in git, other letters do not.
  public let ignoresCase: Bool
  /// The defect by which the pattern matches nothing; `nil` for a valid pattern.
  public let defect: Defect?

  /// The compiled pattern; empty if there is a defect.
  let steps: [GlobStep]

  /// The defects of a pattern that matches nothing. Git ignores such patterns silently.
  public enum Defect: Error, Sendable, Hashable, CaseIterable {
    /// A `[` without `]`.
    case unclosedBracket
    /// An unknown class, such as `[:foo:]`.
    case unknownClass
    /// A `\` at the end.
    case trailingBackslash
    /// An empty name, as in `/`, `!` or `a//b`.
    case emptyName
  }

  /// Creates a pattern from a line of an ignore file, without the line ending.
  ///
  /// Returns `nil` for a blank line and for a comment. A malformed pattern is not `nil`, but has a
  /// ``defect`` and matches nothing.
  public init?(line: String, ignoringCase: Bool = false) {
    self.init(line: line.utf8, ignoringCase: ignoringCase)
  }

  /// Creates a pattern from such a line that need not be UTF-8.
  public init?(line: some Collection<UInt8>, ignoringCase: Bool = false) {
    // For git, a line is a C string, which ends at a NUL.
    let text = Self.trimmingTrailingSpaces(line.prefix { $0 != 0 })
    if text.isEmpty || text.first == UInt8(ascii: "#") { return nil }

    var body = text[...]
    isNegated = body.first == UInt8(ascii: "!")
    if isNegated { body.removeFirst() }
    matchesDirectoriesOnly = body.last == UInt8(ascii: "/")
    if matchesDirectoriesOnly { body.removeLast() }
    isAnchored = body.contains(UInt8(ascii: "/"))
    if body.first == UInt8(ascii: "/") { body.removeFirst() }

    self.text = text
    ignoresCase = ignoringCase
    var compiler = GlobCompiler(
      Array(body), crossesDirectories: isAnchored, ignoringCase: ignoringCase)
    do {
      steps = try compiler.compile()
      defect = nil
    } catch {
      steps = []
      defect = error
    }
  }

  /// Creates a pattern that matches this path below the base directory, and no other.
  ///
  /// - Parameter entries: A pattern of names. Entries with such a name are matched instead of the path.
  package init?(only path: Path, entries: String? = nil) {
    let line = [UInt8(ascii: "/")] + Self.escaped(path.bytes)
    self.init(line: line + Array((entries.map { "/" + $0 } ?? "").utf8))
  }

  /// The part of a pattern that matches these bytes, also in a pattern that a user gives, where braces are
  /// expanded. At its beginning, `!` and `#` keep their meaning.
  package static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let special = Array("*?[\\{ ".utf8)
    return bytes.flatMap { special.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
  }

  /// Removes trailing spaces that no `\` escapes. Tabs remain.
  private static func trimmingTrailingSpaces(_ line: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(line)
    var end = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\") {
        index = min(index + 2, bytes.count)
        end = index
      } else {
        index += 1
        if bytes[index - 1] != UInt8(ascii: " ") { end = index }
      }
    }
    return Array(bytes[..<end])
  }
}

// MARK: - Matching

extension GlobPattern {
  /// Whether the pattern matches a path in bytes; see ``matches(_:isDirectory:)``. Allocates
  /// nothing.
  package func matches(_ relativePath: UnsafeBufferPointer<UInt8>, isDirectory: Bool) -> Bool {
    let slash = relativePath.lastIndex(of: UInt8(ascii: "/"))
    return matches(
      relativePath, base: 0, nameAt: slash.map { $0 + 1 } ?? 0, isDirectory: isDirectory)
  }

  /// Whether the pattern matches a path, regardless of its negation.
  ///
  /// Ancestors of the path are not matched: `build/` does not match `build/a.o`. Takes at most
  /// polynomial time, whatever the pattern.
  ///
  /// - Parameters:
  ///   - relativePath: The path relative to the pattern's base directory, without slashes at its
  ///     ends.
  ///   - isDirectory: Whether it is a directory.
  public func matches(_ relativePath: Path, isDirectory: Bool) -> Bool {
    relativePath.bytes.withUnsafeBufferPointer { matches($0, isDirectory: isDirectory) }
  }

  /// Whether the pattern matches an absolute path, given the offsets of its last name and of the
  /// part below the pattern's base directory. Without a base, an anchored pattern matches nothing.
  func matches(
    _ path: UnsafeBufferPointer<UInt8>, base: Int?, nameAt name: Int, isDirectory: Bool
  ) -> Bool {
    if defect != nil || (matchesDirectoriesOnly && !isDirectory) { return false }
    guard let start = isAnchored ? base : name else { return false }
    return steps.withUnsafeBufferPointer {
      globMatches($0, path, from: start, ignoringCase: ignoresCase)
    }
  }

  /// The first byte of every matching name; `nil` if it varies, or if the whole path must match.
  var firstByteOfName: UInt8? {
    if !isAnchored, !ignoresCase, case .byte(let byte) = steps.first { byte } else { nil }
  }

  /// The last byte of every matching path, in either case if case is ignored; `nil` if it varies.
  var lastByte: UInt8? {
    if case .byte(let byte) = steps.last { byte } else { nil }
  }
}

extension GlobPattern: ExpressibleByStringLiteral {
  /// Creates a pattern. A blank literal, or a comment, has the defect ``Defect/emptyName``, and
  /// matches nothing.
  public init(stringLiteral value: String) {
    self = Self(line: value) ?? Self(empty: value)
  }

  private init(empty text: String) {
    self.text = Array(text.utf8)
    (isNegated, matchesDirectoriesOnly, isAnchored, ignoresCase) = (false, false, false, false)
    defect = .emptyName
    steps = []
  }
}

extension GlobPattern: CustomStringConvertible {
  /// The text for people, as in `Path.description`.
  public var description: String { Path(bytes: text).description }
}

extension GlobPattern.Defect: CustomStringConvertible {
  /// The defect, as the predicate of a sentence whose subject is the pattern.
  public var description: String {
    switch self {
    case .unclosedBracket: "has a [ without ]"
    case .unknownClass: "uses an unknown character class"
    case .trailingBackslash: "ends with a backslash"
    case .emptyName: "contains an empty name"
    }
  }
}
