import SystemCalls

/// One pattern of the gitignore language, compiled, and matched on bytes.
///
/// The language is that of `gitignore(5)`:
///
/// | written     | matches |
/// |-------------|---------|
/// | `*` `?`     | any bytes · one byte, but never a slash |
/// | `[a-c]` `[!x]` `[[:digit:]]` | one byte of a set, never a slash |
/// | `\` x       | x itself |
/// | `**/` `/**/` `/**` | folders at any depth, when the stars are a whole component; elsewhere `**` is `*` |
/// | `/` not at the end | anchors the pattern to its base folder; without one it looks at names anywhere below |
/// | `/` at the end | folders only |
/// | `!` in front | takes back what an earlier pattern has matched |
/// | `#` in front | a comment |
///
/// Where versions of git differ, this follows git's documentation: `foo**/bar` is `foo*/bar`, which
/// git before 2.52 gets wrong.
public struct GlobPattern: Sendable, Hashable {
  /// As written, without a line's end and without trailing spaces. What `git check-ignore -v`
  /// prints.
  public let text: [UInt8]
  /// True with `!` in front.
  public let isNegated: Bool
  /// True with `/` at the end.
  public let matchesDirectoriesOnly: Bool
  /// True with `/` elsewhere: the pattern is held against the whole path below its base folder, and
  /// not just against the last name.
  public let isAnchored: Bool
  /// True if letters match their other case. ASCII letters only, as in git.
  public let ignoresCase: Bool
  /// Why the pattern can match nothing at all; nil for a sound one.
  public let defect: Defect?

  /// What a path must hold, in order. Empty if there is a defect.
  let steps: [GlobStep]

  /// What is wrong with a pattern that can match nothing. Git passes over such a pattern in silence.
  public enum Defect: Error, Sendable, Hashable, CaseIterable {
    /// A `[` without its `]`.
    case unclosedBracket
    /// A class such as `[:foo:]` that does not exist.
    case unknownClass
    /// A `\` with nothing behind it.
    case trailingBackslash
    /// A name of no letters, as in `/`, `!` or `a//b`.
    case emptyName
  }

  /// A pattern from one line of an ignore file, or from the command line.
  ///
  /// The line comes without its end. Nil for a blank line and for a comment; a pattern that is
  /// broken is not nil, but has a `defect` and matches nothing.
  public init?(line: some Collection<UInt8>, ignoringCase: Bool = false) {
    // Git keeps lines as C strings: a NUL ends them.
    let text = Self.trimmingTrailingSpaces(line.prefix { $0 != 0 })
    if text.isEmpty || text.first == Byte.hash { return nil }

    var body = text[...]
    isNegated = body.first == Byte.exclamation
    if isNegated { body.removeFirst() }
    matchesDirectoriesOnly = body.last == Byte.slash
    if matchesDirectoriesOnly { body.removeLast() }
    isAnchored = body.contains(Byte.slash)
    if body.first == Byte.slash { body.removeFirst() }

    self.text = text
    ignoresCase = ignoringCase
    var compiler = GlobCompiler(
      Array(body), crossesFolders: isAnchored, ignoringCase: ignoringCase)
    do {
      steps = try compiler.compile()
      defect = nil
    } catch {
      steps = []
      defect = error
    }
  }

  /// The pattern that matches this path, from where patterns begin, and no other.
  package init?(only path: Path) {
    let special = Array("*?[\\ ".utf8)
    let escaped = path.bytes.flatMap { byte in
      special.contains(byte) ? [Byte.backslash, byte] : [byte]
    }
    self.init(line: [Byte.slash] + escaped)
  }

  /// The line without the spaces at its end, but for one that a `\` protects. Tabs stay.
  private static func trimmingTrailingSpaces(_ line: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(line)
    var end = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] == Byte.backslash {
        index = min(index + 2, bytes.count)
        end = index
      } else {
        index += 1
        if bytes[index - 1] != Byte.space { end = index }
      }
    }
    return Array(bytes[..<end])
  }
}

// MARK: - Matching

extension GlobPattern {
  /// True if the pattern matches this path, whatever its sign: what follows from it is for the list
  /// to say that it stands in.
  ///
  /// The path is relative to the pattern's base folder, without slashes at either end. Folders
  /// above it are not looked at: `build/` does not match `build/a.o`. Allocates nothing, and takes
  /// no more than polynomial time, whatever the pattern.
  public func matches(_ relativePath: UnsafeBufferPointer<UInt8>, isDirectory: Bool) -> Bool {
    let slash = relativePath.lastIndex(of: Byte.slash)
    return matches(
      relativePath, base: 0, nameAt: slash.map { $0 + 1 } ?? 0, isDirectory: isDirectory)
  }

  /// True if the pattern matches this path, relative to the pattern's base folder.
  public func matches(_ relativePath: Path, isDirectory: Bool) -> Bool {
    relativePath.bytes.withUnsafeBufferPointer { matches($0, isDirectory: isDirectory) }
  }

  /// The same for a longer path, of which it is known where its last name begins, and where the part
  /// below the pattern's base folder does. Without a base, an anchored pattern matches nothing.
  func matches(
    _ path: UnsafeBufferPointer<UInt8>, base: Int?, nameAt name: Int, isDirectory: Bool
  ) -> Bool {
    if defect != nil || (matchesDirectoriesOnly && !isDirectory) { return false }
    guard let start = isAnchored ? base : name else { return false }
    return steps.withUnsafeBufferPointer {
      globMatches($0, path, from: start, ignoringCase: ignoresCase)
    }
  }

  /// The byte that every match ends with, in either case if case is ignored; nil if it may end with
  /// any.
  var lastByte: UInt8? {
    if case .byte(let byte) = steps.last { byte } else { nil }
  }
}

extension GlobPattern: CustomStringConvertible {
  /// The text, for people: see `Path.description`.
  public var description: String { Path(bytes: text).description }
}

extension GlobPattern.Defect: CustomStringConvertible {
  /// What is wrong, as the end of a sentence that begins with the pattern.
  public var description: String {
    switch self {
    case .unclosedBracket: "has a [ without its ]"
    case .unknownClass: "names a class that does not exist"
    case .trailingBackslash: "ends with a backslash"
    case .emptyName: "holds a name of no letters"
    }
  }
}
