import SystemCalls

// Keys, numbers, and words such as `true`.

extension JSONParser {
  package static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Whether an ASCII byte may occur in a key without quotation marks; true for all other bytes.
  package static func isNameByte(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) || isDigit(byte)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
  }

  static func startsNumber(_ byte: UInt8) -> Bool {
    isDigit(byte) || Array("+-.".utf8).contains(byte)
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

  /// Parses a key without quotation marks: an identifier as in ECMAScript 5.1.
  private mutating func parseName() throws(JSONSyntaxError) -> String {
    let start = offset
    var name = ""
    while let scalar = nextScalar {
      if scalar == "\\" {
        let escape = offset
        let escaped = byte(1) == UInt8(ascii: "u") ? try parseEscape() : ""
        guard let scalar = escaped.unicodeScalars.first, Self.isNamePart(scalar),
          !name.isEmpty || Self.isNameStart(scalar)
        else {
          throw error("this escape is not allowed in a key without quotation marks", at: escape)
        }
        name += escaped
      } else if name.isEmpty ? Self.isNameStart(scalar) : Self.isNamePart(scalar) {
        name.unicodeScalars.append(scalar)
        offset += UTF8.width(scalar)
      } else {
        break
      }
    }
    if name.isEmpty {
      throw error("expected a key, not \(shownNext); a key that begins with it must be quoted")
    }
    if next == UInt8(ascii: "-") || next == UInt8(ascii: ".") {
      throw error("a key that contains \(shownNext) must be quoted", at: start)
    }
    return name
  }

  private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .letterNumber:
      true
    default: scalar == "$" || scalar == "_"
    }
  }

  private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
    default: isNameStart(scalar) || scalar == "\u{200C}" || scalar == "\u{200D}"
    }
  }
}

// MARK: - Numbers and words

extension JSONParser {
  /// Skips a character that may occur in a name, so that a misspelt word is reported as a whole.
  private mutating func skipNamePart() -> Bool {
    guard let scalar = nextScalar, Self.isNamePart(scalar) else { return false }
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
    guard let number = magnitude(body) else { return nil }
    return isNegative ? -number : number
  }

  private static func magnitude(_ body: Substring) -> Double? {
    switch body {
    case "Infinity": return .infinity
    case "NaN": return .nan
    case _ where body.hasPrefix("0x") || body.hasPrefix("0X"):
      let digits = body.dropFirst(2)
      let isHex = digits.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
      return isHex && !digits.isEmpty ? Double("0x" + digits) : nil
    default:
      return decimal(body)
    }
  }

  /// The value of digits, decimal point and exponent; `Double` would take more than JSON5 allows.
  private static func decimal(_ body: Substring) -> Double? {
    var rest = body.utf8[...]
    func isDigits(_ part: Substring.UTF8View.SubSequence) -> Bool { part.allSatisfy(isDigit) }
    let integer = rest.prefix(while: isDigit)
    rest = rest.dropFirst(integer.count)
    if integer.count > 1, integer.first == UInt8(ascii: "0") { return nil }
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      rest = rest.dropFirst(1 + fraction.count)
    }
    if integer.isEmpty && fraction.isEmpty { return nil }
    var exponent = "0"
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      exponent = String(Substring(rest.dropFirst()))
      let digits =
        exponent.utf8.first.map(isDigit) == true ? exponent.utf8[...] : exponent.utf8.dropFirst()
      if digits.isEmpty || !isDigits(digits) { return nil }
    } else if !rest.isEmpty {
      return nil
    }
    return Double("0\(Substring(integer)).\(Substring(fraction))0e\(exponent)")
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
    let words = ["true", "false", "null", "Infinity", "NaN"]
    let hint = nearestName(to: word, among: words).map { "did you mean \($0)?" }
    throw error(
      "'\(word.printable)' is not a value; \(hint ?? "a string must be quoted")", at: start)
  }
}
