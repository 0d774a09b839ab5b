import Support
import SystemCalls

/// Why a pattern or a list of extensions that a user gives is refused: it could match nothing.
public enum PatternError: Error, Sendable, Hashable {
  /// There is no pattern.
  case empty
  /// The pattern begins with `#`, which begins a comment in gitignore syntax.
  case comment
  /// The pattern is broken.
  case defect(GlobPattern.Defect)
  /// The pattern has a `{` with a comma after it, and no `}`.
  case unclosedBrace
  /// The braces stand for more than 1000 patterns.
  case tooManyAlternatives
  /// The pattern is `.`, or begins with `..`.
  case notBelow
  /// An extension holds a character that is used to separate or to match names.
  case notAnExtension(suggestion: String?)
}

extension PatternError: CustomStringConvertible {
  /// The mistake, as the end of a sentence that begins with the pattern.
  public var description: String {
    switch self {
    case .empty: "is empty"
    case .comment: "is a comment in gitignore syntax; to match a '#', write '\\#'"
    case .defect(let defect): defect.description
    case .unclosedBrace: "has a { without its }"
    case .tooManyAlternatives: "stands for more than \(BraceExpansion.limit) patterns"
    case .notBelow: "matches nothing; patterns match paths below the current directory"
    case .notAnExtension(let suggestion?): "is not an extension; write \(suggestion)"
    case .notAnExtension(nil): "is not an extension; for patterns, use a filter"
    }
  }
}

extension GlobPattern {
  /// Parses a pattern that a user gives as an argument or in a configuration file.
  ///
  /// Two notations are understood that ignore files do not have: braces are expanded, so that
  /// `*.{c,h}` means `*.c` and `*.h`, and `./src` means `/src`, a path below the base.
  public static func parse(_ text: some Collection<UInt8>) throws(PatternError) -> [GlobPattern] {
    var patterns: [GlobPattern] = []
    for line in try BraceExpansion.expand(Array(text)) {
      let line = try anchored(line)
      guard let pattern = GlobPattern(line: line) else {
        throw line.first == UInt8(ascii: "#") ? .comment : .empty
      }
      if let defect = pattern.defect { throw .defect(defect) }
      patterns.append(pattern)
    }
    return patterns
  }

  /// Parses a list of extensions: `c,h`, `.c`, `*.c` and `{c,h}` are understood.
  ///
  /// - Returns: The extensions without the dot in front.
  public static func parseExtensions(
    _ list: some Collection<UInt8>
  ) throws(PatternError) -> [[UInt8]] {
    var extensions: [[UInt8]] = []
    for part in try BraceExpansion.expand(Array(list)) {
      for item in part.split(separator: UInt8(ascii: ",")) {
        let name = try extensionName(item)
        if !extensions.contains(name) { extensions.append(name) }
      }
    }
    if extensions.isEmpty { throw .empty }
    return extensions
  }

  /// The line with `./` at its beginning replaced by `/`.
  private static func anchored(_ line: [UInt8]) throws(PatternError) -> [UInt8] {
    let isNegated = line.first == UInt8(ascii: "!")
    let sign = line.prefix(isNegated ? 1 : 0)
    var body = line.dropFirst(sign.count)
    guard body.first == UInt8(ascii: ".") else { return line }
    let name = body.prefix { $0 != UInt8(ascii: "/") }
    if name.elementsEqual("..".utf8) || body.elementsEqual(".".utf8) { throw .notBelow }
    guard name.count == 1 else { return line }
    while body.starts(with: "./".utf8) { body = body.dropFirst(2).drop { $0 == UInt8(ascii: "/") } }
    if body.isEmpty { throw .notBelow }
    return sign + [UInt8(ascii: "/")] + body
  }

  /// What separates names in other tools, or matches them, and is in no extension.
  private static let notInExtensions = Array(" \t\n|;:/*?[]{}\\".utf8)

  private static func extensionName(_ item: ArraySlice<UInt8>) throws(PatternError) -> [UInt8] {
    let spaces = Array(" \t".utf8)
    var name = item.drop { spaces.contains($0) }
    while let last = name.last, spaces.contains(last) { name.removeLast() }
    if name.first == UInt8(ascii: "*") && name.dropFirst().first == UInt8(ascii: ".") {
      name = name.dropFirst()
    }
    if name.first == UInt8(ascii: ".") { name = name.dropFirst() }
    if name.isEmpty { throw .notAnExtension(suggestion: nil) }
    guard name.contains(where: notInExtensions.contains) else { return Array(name) }
    let separators = Array(" \t|;:".utf8)
    let names = name.split { separators.contains($0) }.map { name in
      name.starts(with: "*.".utf8)
        ? name.dropFirst(2) : name.first == UInt8(ascii: ".") ? name[1...] : name
    }
    let areNames = names.allSatisfy { !$0.contains(where: notInExtensions.contains) }
    guard names.count > 1, areNames else { throw .notAnExtension(suggestion: nil) }
    throw .notAnExtension(suggestion: names.map(\.decoded).joined(separator: ","))
  }

  /// The pattern, anchored to `base` if it is an absolute path below it.
  func anchored(to base: Path) -> GlobPattern {
    let sign = text.prefix(isNegated ? 1 : 0)
    let prefix = base.bytes + (base.bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
    let body = text.dropFirst(sign.count)
    guard prefix.count > 1, body.count > prefix.count, body.starts(with: prefix) else {
      return self
    }
    let line = sign + [UInt8(ascii: "/")] + body.dropFirst(prefix.count)
    return GlobPattern(line: line, ignoringCase: ignoresCase) ?? self
  }
}
