/// Braces in patterns that a user gives: `*.{c,h}` means `*.c` and `*.h`.
///
/// As in shells, a pair of braces is a list only if it holds a comma, lists can be nested, and a
/// backslash takes the meaning from a brace or a comma. Ignore files know no braces, because git does not.
enum BraceExpansion {
  static let limit = 1000
  /// How deep braces may be nested, so that no text overflows the stack.
  private static let deepestNesting = 100

  /// Returns the alternatives, in the order in which they are written; the text itself if it has none.
  static func expand(_ text: [UInt8]) throws(PatternError) -> [[UInt8]] {
    var rest = text[...]
    return try sequence(&rest, depth: 0)
  }

  /// Removes a text, which within braces ends before a comma or the closing brace. Returns its alternatives.
  private static func sequence(
    _ rest: inout ArraySlice<UInt8>, depth: Int
  ) throws(PatternError) -> [[UInt8]] {
    if depth > deepestNesting { throw .tooManyAlternatives }
    var results: [[UInt8]] = [[]]
    while let byte = rest.first, depth == 0 || byte != comma && byte != closeBrace {
      rest.removeFirst()
      if byte == openBrace {
        let ends = try list(&rest, depth: depth + 1)
        if results.count * ends.count > limit { throw .tooManyAlternatives }
        results = results.flatMap { begin in ends.map { begin + $0 } }
      } else {
        let escaped = byte == UInt8(ascii: "\\") ? rest.popFirst() : nil
        for index in results.indices {
          results[index].append(byte)
          if let escaped { results[index].append(escaped) }
        }
      }
    }
    return results
  }

  /// Removes what follows an opening brace, up to the closing one. Returns the alternatives, with the braces if they
  /// are no list.
  private static func list(
    _ rest: inout ArraySlice<UInt8>, depth: Int
  ) throws(PatternError) -> [[UInt8]] {
    var items = try sequence(&rest, depth: depth)
    var isList = false
    while rest.first == comma {
      rest.removeFirst()
      isList = true
      items += try sequence(&rest, depth: depth)
      if items.count > limit { throw .tooManyAlternatives }
    }
    let isClosed = rest.popFirst() == closeBrace
    if isList && !isClosed { throw .unclosedBrace }
    return isList ? items : items.map { [openBrace] + $0 + (isClosed ? [closeBrace] : []) }
  }

  private static let openBrace = UInt8(ascii: "{")
  private static let closeBrace = UInt8(ascii: "}")
  private static let comma = UInt8(ascii: ",")
}
