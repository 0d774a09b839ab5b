extension StringProtocol {
  /// The text for people: control characters are escaped as `\n` or `\u{1B}`, so that it cannot send commands
  /// to a terminal.
  package var printable: String { utf8.printable }
}

extension Collection<UInt8> {
  /// The text for people, as that of a string; invalid UTF-8 is replaced.
  package var printable: String {
    // Most text needs no care.
    if allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(decoding: self, as: UTF8.self) }
    var shown = ""
    for scalar in String(decoding: self, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += scalar.escaped(asASCII: true)
      default:
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
