extension JSONParser {
  /// Parses a string in quotation marks of either kind.
  mutating func parseString() throws(JSONSyntaxError) -> String {
    let start = offset
    let quote = text[start]
    var content: [UInt8] = []
    offset += 1
    while let byte = next, byte != quote {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        throw error(
          "this string is not closed on its line; close it with \(Unicode.Scalar(quote)), "
            + #"or write \n for a line break"#, at: start)
      case UInt8(ascii: "\\"):
        content += try parseEscape().utf8
      case ..<0x20:
        throw error(
          "a control character in a string must be written as \\u\(String(byte, digits: 4))")
      default:
        content.append(byte)
        offset += 1
      }
    }
    if next == nil {
      throw error("this string is not closed; close it with \(Unicode.Scalar(quote))", at: start)
    }
    offset += 1
    guard let string = String(validating: content, as: UTF8.self) else {
      throw error("this string is not UTF-8; save the file as UTF-8", at: start)
    }
    return string
  }

  private static let escapes: [UInt8: String] = [
    UInt8(ascii: "n"): "\n", UInt8(ascii: "t"): "\t", UInt8(ascii: "r"): "\r",
    UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "v"): "\u{B}",
    UInt8(ascii: "\""): "\"", UInt8(ascii: "'"): "'", UInt8(ascii: "\\"): "\\",
    UInt8(ascii: "/"): "/",
  ]

  /// Parses a backslash and what it escapes.
  mutating func parseEscape() throws(JSONSyntaxError) -> String {
    let start = offset
    offset += 1
    // The end of the file: the caller reports that the string is not closed.
    guard let byte = next else { return "" }
    if lineTerminatorLength > 0 {
      offset += lineTerminatorLength
      return ""
    }
    if byte == UInt8(ascii: "u") { return try parseSurrogates(from: start) }
    offset += 1
    switch byte {
    case UInt8(ascii: "x"):
      return String(Unicode.Scalar(UInt8(try parseHex(2, as: #"\xe9"#, from: start))))
    case UInt8(ascii: "0") where next?.isDigitASCII != true:
      return "\0"
    default:
      if let escaped = Self.escapes[byte] { return escaped }
      throw error(#"this escape is unknown; write \\ for a backslash"#, at: start)
    }
  }

  /// Parses `\u` and four digits, and the same again for a character outside the first plane.
  private mutating func parseSurrogates(from start: Int) throws(JSONSyntaxError) -> String {
    offset += 1
    var units = [try parseHex(4, as: #"\u00e9"#, from: start)]
    if UTF16.isLeadSurrogate(units[0]), next == UInt8(ascii: "\\"), byte(1) == UInt8(ascii: "u") {
      offset += 2
      units.append(try parseHex(4, as: #"\u00e9"#, from: start))
    }
    guard let character = String(validating: units, as: UTF16.self) else {
      throw error(
        #"this half of a surrogate pair lacks the other half, as in \ud83d\ude00"#, at: start)
    }
    return character
  }

  private mutating func parseHex(
    _ count: Int, as example: String, from start: Int
  ) throws(JSONSyntaxError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<count {
      guard let digit = next?.hexadecimalValue else {
        throw error(
          "this escape must have \(count) hexadecimal digits, as in \(example)", at: start)
      }
      value = value << 4 | UInt16(digit)
      offset += 1
    }
    return value
  }
}
