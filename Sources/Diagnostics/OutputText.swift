import Support

/// A line of output without escape sequences and other control characters.
typealias OutputLine = ArraySlice<UInt8>

/// The first and the last lines of an output, without escape sequences. A blank line stands for those between.
struct OutputText {
  /// The longest part of a line that is kept, without what was overwritten.
  private static let longestLine = 4_000

  private(set) var lines: [OutputLine] = []

  /// Keeps this many lines of the beginning and of the end.
  init(_ bytes: [UInt8], first: Int, last: Int) {
    let rest = Self.start(ofLast: last, in: bytes)
    var start = 0
    while start < bytes.endIndex {
      if lines.count == first && start < rest {
        lines.append([])
        start = rest
      }
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      let line = bytes[start..<end]
      let text = line.contains(where: \.mayControl) ? TerminalLine(line).text[...] : line
      lines.append(text.prefix(Self.longestLine))
      start = end + 1
    }
  }

  /// Where the last lines begin.
  private static func start(ofLast count: Int, in bytes: [UInt8]) -> Int {
    bytes.withUnsafeBufferPointer { bytes in
      var rest = count
      var index = bytes.count - 1
      // The line feed at the end belongs to the last line.
      while index > 0 {
        index -= 1
        guard bytes[index] == UInt8(ascii: "\n") else { continue }
        rest -= 1
        if rest == 0 { return index + 1 }
      }
      return 0
    }
  }
}

// MARK: - Text in lines

extension ArraySlice<UInt8> {
  /// Whether the line begins with a text.
  func begins(with text: StaticString) -> Bool {
    text.withUTF8Buffer { starts(with: $0) }
  }

  /// Whether the line ends with a text.
  func ends(with text: StaticString) -> Bool {
    suffix(text.utf8CodeUnitCount).begins(with: text)
  }

  /// The range of the first occurrence of a text.
  func range(of text: StaticString) -> Range<Int>? {
    indices.first { self[$0...].begins(with: text) }.map { $0..<($0 + text.utf8CodeUnitCount) }
  }

  func contains(_ text: StaticString) -> Bool { range(of: text) != nil }

  /// What follows a text with which the line begins; `nil` if it does not.
  func dropping(_ text: StaticString) -> ArraySlice? {
    begins(with: text) ? dropFirst(text.utf8CodeUnitCount) : nil
  }

  /// The severity of the word with which the line begins, and what follows it.
  func severity(
    _ words: KeyValuePairs<StaticString, Diagnostic.Severity>
  ) -> (Diagnostic.Severity, ArraySlice)? {
    words.firstResult { word, severity in dropping(word).map { (severity, $0) } }
  }

  /// The range of the last occurrence of a text.
  func last(_ text: StaticString) -> Range<Int>? {
    var found: Range<Int>?
    while let next = self[(found?.upperBound ?? startIndex)...].range(of: text) { found = next }
    return found
  }

  /// What precedes a text with which the line ends; `nil` if it does not.
  func dropping(suffix: StaticString) -> ArraySlice? {
    ends(with: suffix) ? dropLast(suffix.utf8CodeUnitCount) : nil
  }

  /// The number of at most seven digits with which the line begins, and its end.
  var number: (value: Int, end: Int)? {
    let digits = prefix(8).prefix(while: \.isDigitASCII)
    guard digits.count <= 7, let value = digits.decimal() else { return nil }
    return (value, digits.endIndex)
  }

  var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 } }

  /// The number of spaces and tabs at the beginning.
  var indentation: Int { prefix { $0 == 0x20 || $0 == 0x09 }.count }

  /// The line without spaces and tabs at its ends.
  var trimmed: ArraySlice {
    var slice = dropFirst(indentation)
    while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
    return slice
  }

  /// The text for people, without characters that control a terminal or change the direction.
  var message: String {
    var line = prefix(500)
    if line.count < count {
      // A character is not cut.
      while let last = line.last, last & 0xC0 == 0x80 { line.removeLast() }
      if let last = line.last, last >= 0xC0 { line.removeLast() }
    }
    line = line.trimmed
    let text = String(decoding: line, as: UTF8.self)
    if line.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
    var parser = EscapeParser()
    var shown = ""
    for scalar in text.unicodeScalars where parser.consume(scalar) == .text {
      shown.unicodeScalars.append(scalar == "\t" ? " " : scalar)
    }
    return shown
  }
}
