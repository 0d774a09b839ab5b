extension UInt8 {
  /// The lowercase letter of an ASCII uppercase letter; any other byte itself.
  @inlinable package var lowercasedASCII: UInt8 {
    self >= 0x41 && self <= 0x5A ? self | 0x20 : self
  }

  /// Whether it is an ASCII digit.
  @inlinable package var isDigitASCII: Bool { self >= 0x30 && self <= 0x39 }

  /// Whether it is an ASCII letter.
  @inlinable package var isLetterASCII: Bool {
    lowercasedASCII >= 0x61 && lowercasedASCII <= 0x7A
  }

  /// The value of a hexadecimal digit; `nil` for any other byte.
  package var hexadecimalValue: UInt8? {
    switch lowercasedASCII {
    case 0x30...0x39: self - 0x30
    case 0x61...0x66: lowercasedASCII - 0x61 + 10
    default: nil
    }
  }
}

extension String {
  package var word: [UInt8] { Array(utf8) }

  /// A number with at least so many digits.
  package init(_ number: some BinaryInteger, digits: Int, radix: Int = 16) {
    let text = String(number, radix: radix)
    self = String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}

extension Collection<UInt8> {
  /// The text; what is not UTF-8 is replaced.
  package var decoded: String { String(decoding: self, as: UTF8.self) }

  /// The bytes without a byte order mark of UTF-8 at their beginning.
  package var withoutByteOrderMark: SubSequence {
    starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
  }

  /// The first index of a text, which is the start for an empty one. `contains` would link the regular expression engine
  /// into the program, which is larger than watchrun itself.
  @inlinable
  package func firstIndex(of text: String) -> Index? {
    guard let first = text.utf8.first else { return startIndex }
    return indices.first { self[$0] == first && self[$0...].starts(with: text.utf8) }
  }

  /// The bytes with percent signs decoded once; `nil` if one is not followed by two hexadecimal digits.
  package var percentDecoded: [UInt8]? {
    var bytes: [UInt8] = []
    var rest = makeIterator()
    while let byte = rest.next() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else if let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue {
        bytes.append(high << 4 | low)
      } else {
        return nil
      }
    }
    return bytes
  }

  /// The value of decimal digits, clamped to `limit`; `nil` for anything else, and without a digit.
  @inlinable
  package func decimal(limit: Int = .max) -> Int? {
    if isEmpty { return nil }
    var number = 0
    for byte in self {
      guard byte.isDigitASCII else { return nil }
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(byte - 0x30))
      number = overflow || carry ? .max : sum
      // Prevents an overflow.
      if number == .max { return allSatisfy(\.isDigitASCII) ? limit : nil }
    }
    return Swift.min(number, limit)
  }
}

extension [UInt8] {
  /// Replaces placeholders. Replacements are not searched for placeholders.
  package func filling(_ values: [(name: String, value: [UInt8])]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = self[...]
    while let byte = rest.first {
      let found = values.first { rest.starts(with: $0.name.utf8) }
      if let found { result += found.value } else { result.append(byte) }
      rest = rest.dropFirst(found?.name.utf8.count ?? 1)
    }
    return result
  }
}
