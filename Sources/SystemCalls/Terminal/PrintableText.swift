extension StringProtocol {
  /// The text for people: control characters are escaped as `\n` or `\u{1B}`, so that it cannot send commands
  /// to a terminal.
  package var printable: String { printableText(Array(utf8)) }
}

/// Bytes for people, as ``StringProtocol/printable``; invalid UTF-8 is replaced.
package func printableText(_ bytes: [UInt8]) -> String {
  // Most text needs no care.
  if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
    return String(decoding: bytes, as: UTF8.self)
  }
  var shown = ""
  for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      shown += scalar.escaped(asASCII: true)
    default:
      shown.unicodeScalars.append(scalar)
    }
  }
  return shown
}
