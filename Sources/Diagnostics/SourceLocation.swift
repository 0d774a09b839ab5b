import Support
import SystemCalls

/// A source location in a line of output.
package struct SourceLocation: Hashable, Sendable {
  /// The range of the location in the line, in bytes.
  package var range: Range<Int>
  /// The file that the caller has resolved.
  package var path: Path
  /// From 1 on.
  package var line: Int
  /// From 1 on.
  package var column: Int?

  /// Returns the source locations in a line of plain text, in order.
  ///
  /// The formats are `path:line[:column]`, `path(line[,column])` and `File "path", line N`.
  /// `resolve` decides which candidates are existing files. It is called for longer ones first, at
  /// most 40 times a line. Names that are not UTF-8, and locations after the first 8,000 bytes, are
  /// not found.
  package static func find(in text: [UInt8], resolve: (String) -> Path?) -> [SourceLocation] {
    var scanner = Scanner(text: text.prefix(Scanner.maximumLength))
    return scanner.scan(resolve)
  }
}

private struct Scanner {
  static let maximumLength = 8_000
  private static let maximumPath = 1_024
  private static let maximumLookups = 40
  private static let maximumAttempts = 100

  private let text: ArraySlice<UInt8>
  /// The end of the last location that was found.
  private var consumed = 0
  private var lookups = 0
  private var attempts = 0

  init(text: ArraySlice<UInt8>) {
    self.text = text
  }

  /// The line and column after a path.
  private struct Suffix {
    var line: Int
    var column: Int?
    var end: Int
  }

  mutating func scan(_ resolve: (String) -> Path?) -> [SourceLocation] {
    var found: [SourceLocation] = []
    var index = text.startIndex
    while index < text.endIndex, attempts < Self.maximumAttempts, lookups < Self.maximumLookups {
      defer { index += 1 }
      let candidate: (starts: [Int], suffix: Suffix)?
      switch text[index] {
      case UInt8(ascii: ":"): candidate = colons(index).map { (starts(before: index), $0) }
      case UInt8(ascii: "("): candidate = parentheses(index).map { (starts(before: index), $0) }
      case UInt8(ascii: "\""): candidate = quoted(index)
      default: candidate = nil
      }
      guard let candidate else { continue }
      attempts += 1
      for start in candidate.starts {
        guard let (path, begin) = file(start..<index, resolve) else { continue }
        let range = begin..<candidate.suffix.end
        found.append(
          SourceLocation(
            range: range, path: path, line: candidate.suffix.line, column: candidate.suffix.column))
        consumed = range.upperBound
        index = consumed - 1
        break
      }
    }
    return found
  }

  // MARK: - Numbers

  /// Parses `:12` or `:12:3` that is not followed by a part of a word.
  private func colons(_ index: Int) -> Suffix? {
    guard let line = number(index + 1) else { return nil }
    var suffix = Suffix(line: line.value, end: line.end)
    if byte(line.end) == UInt8(ascii: ":"), let column = number(line.end + 1),
      !isWord(byte(column.end))
    {
      suffix.column = column.value > 0 ? column.value : nil
      suffix.end = column.end
    }
    return suffix.line > 0 && !isWord(byte(suffix.end)) ? suffix : nil
  }

  /// Parses `(12)`, `(12,3)` or `(12, 3)`.
  private func parentheses(_ index: Int) -> Suffix? {
    guard let line = number(index + 1), line.value > 0 else { return nil }
    var suffix = Suffix(line: line.value, end: line.end)
    if byte(suffix.end) == UInt8(ascii: ",") {
      let blank = byte(suffix.end + 1) == 0x20 ? 1 : 0
      guard let column = number(suffix.end + 1 + blank) else { return nil }
      suffix.column = column.value > 0 ? column.value : nil
      suffix.end = column.end
    }
    guard byte(suffix.end) == UInt8(ascii: ")") else { return nil }
    suffix.end += 1
    return suffix
  }

  /// Parses `"path", line 12` from the second quotation mark on.
  private func quoted(_ index: Int) -> (starts: [Int], suffix: Suffix)? {
    let words = ", line "
    let after = index + 1
    guard text[after...].starts(with: words.utf8),
      let line = number(after + words.utf8.count), line.value > 0,
      let quote = text[max(consumed, index - Self.maximumPath)..<index]
        .lastIndex(of: UInt8(ascii: "\""))
    else { return nil }
    return ([quote + 1], Suffix(line: line.value, end: line.end))
  }

  private func byte(_ index: Int) -> UInt8? {
    text.indices.contains(index) ? text[index] : nil
  }

  private func number(_ index: Int) -> (value: Int, end: Int)? {
    index < text.endIndex ? text[index...].number : nil
  }

  private func isWord(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return byte.isDigitASCII || byte.isLetterASCII || byte >= 0x80 || "/_".utf8.contains(byte)
  }

  // MARK: - Paths

  /// The possible starts of a path that ends at `end`, those of longer paths first.
  private func starts(before end: Int) -> [Int] {
    let bound = max(consumed, end - Self.maximumPath)
    var starts: [Int] = []
    var start = end
    while start > bound, !isDelimiter(text[start - 1]) {
      if starts.count < 6, start < end, isBoundary(text[start - 1]) { starts.append(start) }
      start -= 1
    }
    if start == end { return [] }
    if starts.last != start { starts.append(start) }
    // A name with spaces may begin the line, or follow an arrow.
    var first = bound
    while first < start, text[first] == 0x20 { first += 1 }
    if text[first..<end].starts(with: "--> ".utf8) { first += 4 }
    if first < start, byte(first) == UInt8(ascii: "/") || byte(first) == UInt8(ascii: ".") {
      starts.append(first)
    }
    return starts.reversed()
  }

  private func isDelimiter(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x7F || "\"'`<>|".utf8.contains(byte)
  }

  /// Whether a path may begin after this byte of a word.
  private func isBoundary(_ byte: UInt8) -> Bool {
    "([{=,;:@".utf8.contains(byte)
  }

  private mutating func file(
    _ range: Range<Int>, _ resolve: (String) -> Path?
  ) -> (path: Path, start: Int)? {
    var range = range
    let scheme = "file://"
    if text[range].starts(with: scheme.utf8) {
      range = (range.lowerBound + scheme.utf8.count)..<range.upperBound
    }
    guard lookups < Self.maximumLookups, text[range].contains(where: { !$0.isDigitASCII }),
      !text[range].contains(0), let name = String(validating: text[range], as: UTF8.self)
    else { return nil }
    lookups += 1
    return resolve(name).map { ($0, range.lowerBound) }
  }
}
