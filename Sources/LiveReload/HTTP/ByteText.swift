import Support

extension UInt8 {
  /// Whether it is a space or a tab, which HTTP allows around a value.
  var isBlankASCII: Bool { self == 0x20 || self == 0x09 }

  /// Whether it is white space in a tag, and in a policy.
  var isMarkupSpace: Bool { isBlankASCII || self == 0x0A || self == 0x0C || self == 0x0D }
}

extension Sequence<UInt8> {
  /// The bytes with ASCII letters in lowercase.
  var lowercasedASCII: [UInt8] { map(\.lowercasedASCII) }

  /// Whether the bytes are equal to `text`, ignoring the case of ASCII letters.
  func equalsIgnoringCase(_ text: String) -> Bool {
    elementsEqual(text.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without leading and trailing spaces and tabs.
  var trimmedBlanks: SubSequence {
    guard let first = firstIndex(where: { !$0.isBlankASCII }),
      let last = lastIndex(where: { !$0.isBlankASCII })
    else { return self[endIndex...] }
    return self[first...last]
  }
}

extension [UInt8] {
  /// Whether the bytes are text in UTF-8, and not in an encoding such as ISO-2022-JP, which consists
  /// of ASCII with escape sequences.
  var isUTF8: Bool {
    var rest = self[...]
    while let escape = rest.firstIndex(of: 0x1B) {
      rest = rest[(escape + 1)...]
      if rest.first == UInt8(ascii: "$") || rest.first == UInt8(ascii: "(") { return false }
    }
    return String(validating: self, as: UTF8.self) != nil
  }
}
