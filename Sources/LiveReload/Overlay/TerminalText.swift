import Support

/// A renderer of a command's output for pages, line by line.
///
/// Colours and effects carry over from line to line. Otherwise a line is shown as ``TerminalLine`` describes: what
/// follows a carriage return replaces the line, and other sequences are dropped. Bytes that are not UTF-8 become
/// U+FFFD.
struct TerminalText {
  /// The most characters of a line. A longer line ends with an ellipsis.
  static let maximumLength = 2_000

  private var style = Style()

  /// Renders the next line, given without its line ending, as spans; none for an empty line.
  mutating func line(_ bytes: [UInt8]) -> [Span] {
    var spans: [Span] = []
    // Whether the next character begins the line anew.
    var isOverwritten = false
    var parser = EscapeParser()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch parser.consume(scalar) {
      case .text:
        if isOverwritten { spans = [] }
        isOverwritten = false
        if spans.last?.style != style { spans.append(Span(text: "", style: style)) }
        spans[spans.count - 1].text.unicodeScalars.append(scalar)
      case .style(let parameters): style.apply(parameters: parameters)
      case .reset: style = Style()
      case .carriageReturn, .column(0): isOverwritten = true
      case .erase(2): spans = []
      case .erase(0) where isOverwritten: spans = []
      case .backspace:
        guard let last = spans.indices.last else { break }
        spans[last].text.unicodeScalars.removeLast()
        if spans[last].text.isEmpty { spans.removeLast() }
      case .column, .erase, .nothing: break
      }
    }
    return Self.cut(spans)
  }

  private static func cut(_ spans: [Span]) -> [Span] {
    var rest = maximumLength
    for (index, span) in spans.enumerated() {
      let scalars = span.text.unicodeScalars
      if scalars.count > rest {
        let end = Span(text: String(scalars.prefix(rest)) + "…", style: span.style)
        return spans[..<index] + [end]
      }
      rest -= scalars.count
    }
    return spans
  }
}
