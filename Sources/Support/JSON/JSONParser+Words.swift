import SystemCalls

// Keys, numbers, and words such as `true`.

extension JSONParser {
  /// Whether an ASCII byte may occur in a key without quotation marks; true for all other bytes.
  package static func isNameByte(_ byte: UInt8) -> Bool {
    byte.isLetterASCII || byte.isDigitASCII || byte >= 0x80 || "_$".utf8.contains(byte)
  }
}

// MARK: - Keys

extension JSONParser {
  mutating func parseKey() throws(JSONSyntaxError) -> String {
    switch next {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return try parseString()
    case UInt8(ascii: ","):
      throw error("expected a key, not ','; is there a comma too many?")
    default:
      return try parseName()
    }
  }

  /// Parses a key without quotation marks.
  private mutating func parseName() throws(JSONSyntaxError) -> String {
    let start = offset
    if next?.isDigitASCII != true { while skipNamePart() {} }
    if offset == start {
      throw error("expected a key, not \(shownNext); a key that begins with it must be quoted")
    }
    if next == UInt8(ascii: "-") || next == UInt8(ascii: ".") {
      throw error("a key that contains \(shownNext) must be quoted", at: start)
    }
    return String(decoding: text[start..<offset], as: UTF8.self)
  }
}

// MARK: - Numbers and words

extension JSONParser {
  /// Skips a character that may occur in a name, so that a misspelt word is reported as a whole.
  private mutating func skipNamePart() -> Bool {
    guard let byte = next, Self.isNameByte(byte), let scalar = nextScalar, !Self.isSpace(scalar),
      scalar != "\u{FFFD}"
    else { return false }
    offset += UTF8.width(scalar)
    return true
  }

  mutating func parseNumber() throws(JSONSyntaxError) -> Double {
    let start = offset
    while let byte = next {
      // A sign comes first, or after the letter of an exponent.
      let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      let isExpected = offset == start || text[offset - 1] | 0x20 == UInt8(ascii: "e")
      if byte == UInt8(ascii: ".") || (isSign && isExpected) {
        offset += 1
      } else if !skipNamePart() {
        break
      }
    }
    let written = String(decoding: text[start..<offset], as: UTF8.self)
    guard let number = Self.number(written) else {
      throw error("'\(written.printable)' is not a number; a string must be quoted", at: start)
    }
    if number.isInfinite, !written.hasSuffix("Infinity") {
      throw error("this number is too large", at: start)
    }
    return number
  }

  private static func number(_ written: String) -> Double? {
    let isNegative = written.hasPrefix("-")
    let body = isNegative || written.hasPrefix("+") ? written.dropFirst() : written[...]
    let digits = body.dropFirst(2)
    let magnitude: Double? =
      switch body {
      case "Infinity": .infinity
      case "NaN": .nan
      case _ where body.hasPrefix("0x") || body.hasPrefix("0X"):
        digits.utf8.allSatisfy { $0.hexadecimalValue != nil } ? Double("0x" + digits) : nil
      default: decimal(body)
      }
    return magnitude.map { isNegative ? -$0 : $0 }
  }

  /// The value of digits, decimal point and exponent; `Double` would take more than JSON5 allows.
  private static func decimal(_ body: Substring) -> Double? {
    let text = body.utf8
    let hasLeadingZero =
      text.first == UInt8(ascii: "0") && text.dropFirst().first?.isDigitASCII == true
    let isNumber =
      !hasLeadingZero && text.first?.isDigitASCII ?? false || text.first == UInt8(ascii: ".")
    guard isNumber, text.allSatisfy({ $0.isDigitASCII || ".eE+-".utf8.contains($0) }) else {
      return nil
    }
    return Double(body)
  }

  mutating func parseWord() throws(JSONSyntaxError) -> JSONValue.Content {
    let start = offset
    while skipNamePart() {}
    if offset == start { throw error("expected a value, not \(shownNext)") }
    let word = String(decoding: text[start..<offset], as: UTF8.self)
    switch word {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "null": return .null
    case "Infinity": return .number(.infinity)
    case "NaN": return .number(.nan)
    default: break
    }
    let hint = nearestName(to: word, among: ["true", "false", "null", "Infinity", "NaN"]).map {
      "did you mean \($0)?"
    }
    throw error(
      "'\(word.printable)' is not a value; \(hint ?? "a string must be quoted")", at: start)
  }
}
