import SystemCalls

// Strings, numbers, and keys.

extension JSONScanner {
  mutating func scanKey() throws(Fault) -> String {
    let start = offset
    switch next {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return try scanString()
    case let byte? where Self.isNameByte(byte) && !Self.isDigit(byte):
      while let byte = next, Self.isNameByte(byte) { offset += 1 }
      let key = String(decoding: text[start..<offset], as: UTF8.self)
      if let odd = key.unicodeScalars.first(where: { !Self.isNamed($0) }) {
        throw fault(
          "expected a key, not '\(Path(String(odd)))'; if that begins one, put it between quotes",
          at: start)
      }
      if next == UInt8(ascii: "-") || next == UInt8(ascii: ".") {
        throw fault("a key that holds \(shownNext) stands between quotes", at: start)
      }
      return key
    case UInt8(ascii: ","):
      throw fault("expected a key, not ','; is there a comma too many?")
    case nil:
      throw fault("expected a key, not the end of the file: a '}' is missing")
    default:
      throw fault("expected a key, not \(shownNext); if that begins one, put it between quotes")
    }
  }

  private static func isNamed(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x80 || scalar.properties.isIDContinue
  }

  /// Over a string between quotes of either kind. What it says.
  mutating func scanString() throws(Fault) -> String {
    let start = offset
    let quote = text[start]
    var said: [UInt8] = []
    offset += 1
    while let byte = next, byte != quote {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        throw fault(
          "this string has no end in its line; close it with \(Character(Unicode.Scalar(quote))), "
            + #"or write \n for a new line"#, at: start)
      case UInt8(ascii: "\\"):
        said += try scanEscape()
      case ..<0x20:
        let hex = String(byte, radix: 16)
        throw fault(
          #"a control character stands in this string; write it as \u00"#
            + String(repeating: "0", count: 2 - hex.count) + hex)
      default:
        said.append(byte)
        offset += 1
      }
    }
    if next == nil { throw fault("this string has no end", at: start) }
    offset += 1
    guard let text = String(validating: said, as: UTF8.self) else {
      throw fault("this string is not UTF-8; save the file as UTF-8", at: start)
    }
    return text
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "t"): 0x09, UInt8(ascii: "r"): 0x0D,
    UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
  ]
  private static let themselves = Array(#""'\/"#.utf8)

  private mutating func scanEscape() throws(Fault) -> [UInt8] {
    let start = offset
    offset += 1
    guard let byte = next else { return [] }
    offset += 1
    if byte == UInt8(ascii: "u") { return try scanScalar(from: start) }
    if let escaped = Self.escapes[byte] { return [escaped] }
    if Self.themselves.contains(byte) { return [byte] }
    // The string goes on in the next line.
    if byte == UInt8(ascii: "\n") { return [] }
    if byte == UInt8(ascii: "\r") {
      if next == UInt8(ascii: "\n") { offset += 1 }
      return []
    }
    throw fault(#"JSON has no such escape; write \\ for a backslash"#, at: start)
  }

  /// Behind `\u`; a character outside of the first plane is two of these.
  private mutating func scanScalar(from start: Int) throws(Fault) -> [UInt8] {
    var units = [try scanUnit(from: start)]
    if UTF16.isLeadSurrogate(units[0]), text[offset...].starts(with: Array("\\u".utf8)) {
      offset += 2
      units.append(try scanUnit(from: start))
    }
    guard let scalar = String(validating: units, as: UTF16.self) else {
      throw fault(#"this half of a character is missing the other half"#, at: start)
    }
    return Array(scalar.utf8)
  }

  private mutating func scanUnit(from start: Int) throws(Fault) -> UInt16 {
    let digits = text[offset...].prefix(4)
    let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    guard digits.count == 4, let unit, digits.allSatisfy({ $0 != UInt8(ascii: "+") }) else {
      throw fault(#"behind \u stand four digits, as in \u00e9"#, at: start)
    }
    offset += 4
    return unit
  }
}

// MARK: - Numbers and words

extension JSONScanner {
  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// True for what a key may hold that stands without quotes.
  static func isNameByte(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) || isDigit(byte)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
  }

  static func startsNumber(_ byte: UInt8) -> Bool {
    isDigit(byte) || Array("+-.".utf8).contains(byte)
  }

  mutating func scanNumber() throws(Fault) {
    let start = offset
    while let byte = next, Self.isNameByte(byte) || Self.startsNumber(byte) {
      // A sign stands in front, or behind the letter of an exponent.
      let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      if isSign, offset > start, text[offset - 1] | 0x20 != UInt8(ascii: "e") { break }
      offset += 1
    }
    let written = String(decoding: text[start..<offset], as: UTF8.self)
    if !Self.isNumber(written) {
      throw fault("'\(Path(written))' is no number; a text stands between quotes", at: start)
    }
    if Double(written)?.isInfinite == true, !written.hasSuffix("Infinity") {
      throw fault("this number is larger than any that can be read", at: start)
    }
  }

  private static func isNumber(_ written: String) -> Bool {
    let isSigned = written.hasPrefix("+") || written.hasPrefix("-")
    let body = isSigned ? written.dropFirst() : written[...]
    if body == "Infinity" || body == "NaN" { return true }
    if body.hasPrefix("0x") || body.hasPrefix("0X") {
      return body.count > 2 && body.dropFirst(2).allSatisfy(\.isHexDigit)
    }
    let digits = body.prefix { $0.isASCII && $0.isNumber }
    if digits.count > 1 && digits.first == "0" { return false }
    let isPlain = body.utf8.allSatisfy { isDigit($0) || Array(".eE+-".utf8).contains($0) }
    return isPlain && Double(body.hasSuffix(".") ? body + "0" : body) != nil
  }

  mutating func scanWord() throws(Fault) {
    let start = offset
    while let byte = next, Self.isNameByte(byte) { offset += 1 }
    let word = String(decoding: text[start..<offset], as: UTF8.self)
    let words = ["true", "false", "null", "Infinity", "NaN"]
    if words.contains(word) { return }
    let hint = nearest(to: word, among: words).map { "; did you mean \($0)?" }
    throw fault(
      "'\(Path(word))' is no value\(hint ?? ": a text stands between quotes")", at: start)
  }
}
