/// A line of output as a terminal shows it in one row, whatever controls the terminal in between.
///
/// What follows a carriage return replaces the line, as progress bars do; colours and effects are kept apart
/// from other sequences, such as those that move the cursor, which are dropped. Bytes that are no characters
/// are kept.
package struct TerminalLine {
  /// The line without colours and effects, or with them.
  package private(set) var text: [UInt8] = []
  /// Whether colours or effects may be set at the end of the line.
  package private(set) var isStyled = false

  private let keepsStyles: Bool
  private var parser = EscapeParser()
  /// Whether the next character begins the line anew.
  private var isOverwritten = false
  private var endsWithSequence = false
  /// The sequences that have set colours and effects since these were reset.
  private var styles: [UInt8] = []

  /// - Parameter keepsStyles: Whether the text has colours and effects.
  package init(_ bytes: some Collection<UInt8>, keepsStyles: Bool = false) {
    self.keepsStyles = keepsStyles
    text.reserveCapacity(bytes.count)
    var isControl = false
    for byte in bytes {
      if isControl {
        // C1 control characters have two bytes in UTF-8.
        isControl = false
        if 0x80..<0xA0 ~= byte {
          obey(parser.consume(Unicode.Scalar(byte)), byte)
          continue
        }
        put(0xC2)
      }
      if byte < 0x80 {
        obey(parser.consume(Unicode.Scalar(byte)), byte)
      } else if byte == 0xC2 {
        isControl = true
      } else if parser.expectsText {
        put(byte)
      }
    }
    if isControl { put(0xC2) }
  }

  /// The line with colours and effects.
  package static func shown(_ bytes: some Collection<UInt8>) -> String {
    mayHaveControls(bytes) ? Self(bytes, keepsStyles: true).text.decoded : bytes.decoded
  }

  /// Whether the bytes may be shown otherwise than as they are.
  package static func mayHaveControls(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.contains(where: \.mayControl)
  }

  private mutating func put(_ byte: UInt8) {
    // What is dropped between two bytes must not make a control character of them.
    let controls = text.last == 0xC2 && 0x80..<0xA0 ~= byte
    if !parser.expectsText || controls { return }
    if isOverwritten { clear() }
    text.append(byte)
    endsWithSequence = false
  }

  private mutating func clear() {
    isOverwritten = false
    text.removeAll(keepingCapacity: true)
    if keepsStyles { text += styles }
  }

  private mutating func obey(_ action: EscapeParser.Action, _ byte: UInt8) {
    switch action {
    case .text: put(byte)
    case .style(let parameters): setStyle(parameters)
    case .reset: setStyle([])
    case .carriageReturn, .column(0): isOverwritten = true
    case .erase(2): clear()
    case .erase(0) where isOverwritten: clear()
    case .backspace:
      if !endsWithSequence, let last = text.last, last < 0x80 { text.removeLast() }
    case .column, .erase, .nothing: break
    }
  }

  private mutating func setStyle(_ parameters: [UInt8]) {
    guard keepsStyles else { return }
    let sequence = [0x1B, UInt8(ascii: "[")] + parameters + [UInt8(ascii: "m")]
    isStyled = !parameters.allSatisfy { $0 == UInt8(ascii: "0") }
    styles = isStyled ? styles + sequence : []
    text += sequence
    endsWithSequence = true
  }
}

extension UInt8 {
  /// Whether a byte of UTF-8 is, or begins, a character that controls a terminal.
  @inlinable package var mayControl: Bool {
    self < 0x20 && self != UInt8(ascii: "\t") || self == 0x7F || self == 0xC2
  }
}
