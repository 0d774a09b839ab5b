extension UInt8 {
  /// This byte, or the small letter of an ASCII capital.
  var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

  /// Whether it is an ASCII digit.
  var isDigitASCII: Bool { self >= 0x30 && self <= 0x39 }

  /// Whether it is an ASCII letter.
  var isLetterASCII: Bool { lowercasedASCII >= 0x61 && lowercasedASCII <= 0x7A }

  /// Whether it is a space or a tab: what HTTP allows around a value.
  var isBlankASCII: Bool { self == 0x20 || self == 0x09 }

  /// The value of a hexadecimal digit.
  var hexadecimalValue: UInt8? {
    switch lowercasedASCII {
    case 0x30...0x39: self - 0x30
    case 0x61...0x66: lowercasedASCII - 0x61 + 10
    default: nil
    }
  }
}

extension Sequence<UInt8> {
  /// The bytes, ASCII capitals as small letters.
  var lowercasedASCII: [UInt8] { map(\.lowercasedASCII) }

  /// Whether the bytes are those of `text`, ASCII letters compared without case.
  func equalsIgnoringCase(_ text: String) -> Bool {
    elementsEqual(text.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension Collection<UInt8> {
  /// The number that these decimal digits write, at most `limit`; `nil` for anything else and for
  /// no digit at all. Larger numbers become `limit`.
  func decimal(limit: Int = .max) -> Int? {
    if isEmpty { return nil }
    var number = 0
    for byte in self {
      guard byte.isDigitASCII else { return nil }
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(byte - 0x30))
      number = overflow || carry ? .max : sum
      // A digit more must not make it small again.
      if number == .max { return allSatisfy(\.isDigitASCII) ? limit : nil }
    }
    return Swift.min(number, limit)
  }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without spaces and tabs at either end.
  var trimmedBlanks: SubSequence {
    guard let first = firstIndex(where: { !$0.isBlankASCII }),
      let last = lastIndex(where: { !$0.isBlankASCII })
    else { return self[endIndex...] }
    return self[first...last]
  }
}

extension [UInt8] {
  /// The first index of a text.
  func firstIndex(of text: String) -> Int? {
    let part = [UInt8](text.utf8)
    guard !part.isEmpty, part.count <= count else { return nil }
    return (0...(count - part.count)).first { self[$0...].starts(with: part) }
  }

  /// The bytes with a text in place of each occurrence of another.
  func replacing(_ text: String, with other: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = self
    while let index = rest.firstIndex(of: text) {
      result += rest[..<index] + [UInt8](other.utf8)
      rest = [UInt8](rest[(index + text.utf8.count)...])
    }
    return result + rest
  }
}
