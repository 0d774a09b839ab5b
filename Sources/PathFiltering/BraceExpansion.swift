/// Braces in patterns that a user gives: `*.{c,h}` means `*.c` and `*.h`.
///
/// As in shells, a pair of braces is a list only if it holds a comma, lists can be nested, and a
/// backslash takes the meaning from a brace or a comma. Ignore files know no braces, because git does not.
enum BraceExpansion {
  /// Why a text cannot be expanded.
  enum Failure: Error, Hashable {
    /// A `{` with a comma after it, and no `}`.
    case unclosed
    /// More alternatives than anybody would write by hand.
    case tooMany
  }

  static let limit = 1000
  /// Bounds the depth to which lists can be nested.
  private static let longestText = 4096

  /// Returns the alternatives, in the order in which they are written; the text itself if it has none.
  static func expand(_ text: [UInt8]) throws(Failure) -> [[UInt8]] {
    guard text.contains(openBrace) else { return [text] }
    if text.count > longestText { throw .tooMany }
    guard let list = try firstList(in: text) else { return [text] }
    // The alternatives of what follows are the same for each alternative of the list.
    let ends = try expand(Array(text[list.end...]))
    var results: [[UInt8]] = []
    for item in list.items {
      for middle in try expand(Array(text[item])) {
        if results.count + ends.count > limit { throw .tooMany }
        for end in ends { results.append(text[..<list.begin] + middle + end) }
      }
    }
    return results
  }

  private struct List {
    var begin: Int
    /// The index after the closing brace.
    var end: Int
    var items: [Range<Int>]
  }

  /// The first pair of braces, from the left, that holds a comma of its own.
  private static func firstList(in text: [UInt8]) throws(Failure) -> List? {
    var begin = text.startIndex
    while let open = index(of: openBrace, in: text, from: begin) {
      var commas: [Int] = []
      if let close = closingBrace(in: text, after: open, &commas) {
        if !commas.isEmpty {
          let starts = [open + 1] + commas.map { $0 + 1 }
          let items = zip(starts, commas + [close]).map { $0..<$1 }
          return List(begin: open, end: close + 1, items: items)
        }
      } else if !commas.isEmpty {
        throw .unclosed
      }
      begin = open + 1
    }
    return nil
  }

  private static func closingBrace(
    in text: [UInt8], after open: Int, _ commas: inout [Int]
  ) -> Int? {
    var depth = 0
    var index = open + 1
    while index < text.count {
      switch text[index] {
      case Byte.backslash: index += 1
      case openBrace: depth += 1
      case closeBrace where depth == 0: return index
      case closeBrace: depth -= 1
      case comma where depth == 0: commas.append(index)
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The first such byte that no backslash precedes.
  private static func index(of byte: UInt8, in text: [UInt8], from begin: Int) -> Int? {
    var index = begin
    while index < text.count {
      if text[index] == byte { return index }
      index += text[index] == Byte.backslash ? 2 : 1
    }
    return nil
  }

  private static let openBrace = UInt8(ascii: "{")
  private static let closeBrace = UInt8(ascii: "}")
  private static let comma = UInt8(ascii: ",")
}
