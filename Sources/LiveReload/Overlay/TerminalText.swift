import Support

/// A renderer of a command's output as a terminal shows it, line by line.
///
/// Colours and effects carry over from line to line. `\r` and backspace let later text overwrite
/// earlier text, as progress bars do; sequences that erase in the line or move to a column are
/// supported. Other escape sequences and control characters are dropped, tabs are kept, and bytes
/// that are not UTF-8 become U+FFFD. Unlike in a terminal, wide characters take one column.
struct TerminalText {
  /// The most characters of a line. A longer line ends with an ellipsis.
  static let maximumLength = 2_000

  private var style = Style()

  /// Renders the next line, given without its line ending, as spans; none for an empty line.
  mutating func line(_ bytes: [UInt8]) -> [Span] {
    var row = Row()
    var parser = EscapeParser()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch parser.consume(scalar) {
      case .text: row.put(scalar, style)
      case .style(let parameters): style.apply(parameters: parameters)
      case .carriageReturn: row.column = 0
      case .backspace: row.column = max(0, row.column - 1)
      case .column(let column): row.column = column
      case .erase(let kind): row.erase(kind)
      case .reset: style = Style()
      case .nothing: break
      }
    }
    return row.spans
  }
}

/// The characters of a line, and the column of the next one.
private struct Row {
  /// The column, counted from 0; may be beyond the last cell.
  var column = 0
  private var cells: [Span] = []
  private var isCut = false

  mutating func put(_ scalar: Unicode.Scalar, _ style: Style) {
    if scalar.value >= 0x300, scalar.properties.isGraphemeExtend || scalar == "\u{200D}",
      column > 0, column <= cells.count
    {
      // No script needs more combining marks on one character.
      if cells[column - 1].text.unicodeScalars.count < 8 {
        cells[column - 1].text.unicodeScalars.append(scalar)
      }
      return
    }
    guard column < TerminalText.maximumLength else {
      isCut = true
      return
    }
    while cells.count < column { cells.append(Span(text: " ")) }
    let cell = Span(text: String(scalar), style: style)
    if column < cells.count { cells[column] = cell } else { cells.append(cell) }
    column += 1
  }

  /// Erases from the column on (0), up to it (1), or the whole line (2).
  mutating func erase(_ kind: Int) {
    switch kind {
    case 0: cells.removeLast(max(0, cells.count - column))
    case 1: for index in cells.indices.prefix(column + 1) { cells[index] = Span(text: " ") }
    case 2: cells.removeAll()
    default: break
    }
  }

  var spans: [Span] {
    var spans: [Span] = []
    for cell in cells {
      if let last = spans.indices.last, spans[last].style == cell.style {
        spans[last].text += cell.text
      } else {
        spans.append(cell)
      }
    }
    if isCut, cells.count == TerminalText.maximumLength, let last = spans.indices.last {
      let kept = String(
        spans[last].text.unicodeScalars.dropLast(cells.last?.text.unicodeScalars.count ?? 1))
      spans[last].text = kept + "…"
    }
    return spans
  }
}
