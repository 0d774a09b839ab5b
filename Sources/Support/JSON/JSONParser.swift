import SystemCalls

/// A parser for JSON5 (https://spec.json5.org) that keeps the position of every value.
///
/// It is stricter than the specification where a value would hardly be what its author meant: an
/// unknown escape such as `\d`, half a surrogate pair, an unescaped control character in a string,
/// a number that is too large, and nesting deeper than ``deepestNesting`` are errors. A key without quotation marks
/// has no escapes, and may have any characters outside ASCII.
package struct JSONParser {
  /// How deep objects and arrays may be nested, so that no text overflows the stack.
  static let deepestNesting = 64

  let text: [UInt8]
  var offset = 0
  private let example: String
  private var depth = 0

  init(_ text: [UInt8], example: String) {
    self.text = text
    self.example = example
    offset = text.withoutByteOrderMark.startIndex
  }

  /// Parses the whole text.
  mutating func parse() throws(JSONSyntaxError) -> JSONValue {
    let isUTF16 =
      text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
      || text.prefix(4).contains(0)
    if isUTF16 {
      throw error("the file is not in UTF-8 but UTF-16 or binary; save it as UTF-8", at: 0)
    }
    try skipSpace()
    if next == nil { throw error("the file is empty; write \(example)", at: 0) }
    let value = try parseValue()
    try skipSpace()
    if next != nil {
      throw error("expected the end of the file, not \(shownNext); is there a bracket too many?")
    }
    return value
  }
}

// MARK: - Reading bytes

extension JSONParser {
  var next: UInt8? { byte(0) }

  /// The byte at this distance from the current one, if the text is that long.
  func byte(_ distance: Int) -> UInt8? {
    offset + distance < text.count ? text[offset + distance] : nil
  }

  /// The Unicode scalar at the current position; invalid UTF-8 is read as U+FFFD.
  var nextScalar: Unicode.Scalar? {
    String(decoding: text[offset...].prefix(4), as: UTF8.self).unicodeScalars.first
  }

  /// The current character in quotation marks, for messages.
  var shownNext: String {
    nextScalar.map { "'\(String($0).printable)'" } ?? "the end of the file"
  }

  func error(_ message: String, at place: Int? = nil) -> JSONSyntaxError {
    JSONSyntaxError(offset: place ?? offset, message: message)
  }

  /// The length in bytes of the line terminator at the current position; 0 if there is none.
  var lineTerminatorLength: Int {
    switch next {
    case UInt8(ascii: "\n"): 1
    case UInt8(ascii: "\r"): byte(1) == UInt8(ascii: "\n") ? 2 : 1
    case 0xE2 where byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9): 3
    default: 0
    }
  }
}

// MARK: - Values

extension JSONParser {
  mutating func parseValue() throws(JSONSyntaxError) -> JSONValue {
    let start = offset
    let content: JSONValue.Content
    switch next {
    case UInt8(ascii: "{"): content = .object(try parseObject())
    case UInt8(ascii: "["): content = .array(try parseArray())
    case UInt8(ascii: "\""), UInt8(ascii: "'"): content = .string(try parseString())
    case let byte? where byte.isDigitASCII || "+-.".utf8.contains(byte):
      content = .number(try parseNumber())
    default: content = try parseWord()
    }
    return JSONValue(content, at: start)
  }

  private mutating func parseObject() throws(JSONSyntaxError) -> [JSONValue.Member] {
    let start = offset
    var members: [JSONValue.Member] = []
    try enter()
    while next != UInt8(ascii: "}") {
      if next == nil { throw notClosed("object", from: start, closedBy: "}") }
      let keyOffset = offset
      let key = try parseKey()
      try skipSpace()
      if next != UInt8(ascii: ":") {
        throw error("expected ':' after the key '\(key.printable)', not \(shownNext)")
      }
      offset += 1
      try skipSpace()
      members.append(.init(key: key, keyOffset: keyOffset, value: try parseValue()))
      try skipComma(closing: "}")
    }
    leave()
    return members
  }

  private mutating func parseArray() throws(JSONSyntaxError) -> [JSONValue] {
    let start = offset
    var elements: [JSONValue] = []
    try enter()
    while next != UInt8(ascii: "]") {
      if next == nil { throw notClosed("array", from: start, closedBy: "]") }
      elements.append(try parseValue())
      try skipComma(closing: "]")
    }
    leave()
    return elements
  }

  private mutating func enter() throws(JSONSyntaxError) {
    if depth == Self.deepestNesting {
      throw error("objects and arrays are nested more than \(Self.deepestNesting) deep")
    }
    depth += 1
    offset += 1
    try skipSpace()
  }

  private mutating func leave() {
    depth -= 1
    offset += 1
  }

  /// Skips the comma after a member or an element; the last one needs none.
  private mutating func skipComma(closing: Unicode.Scalar) throws(JSONSyntaxError) {
    try skipSpace()
    if next == nil || next == UInt8(ascii: closing) { return }
    if next != UInt8(ascii: ",") {
      throw error("expected ',' or '\(closing)', not \(shownNext)")
    }
    offset += 1
    try skipSpace()
  }

  private func notClosed(
    _ kind: String, from start: Int, closedBy closing: Unicode.Scalar
  ) -> JSONSyntaxError {
    let opening = TextPosition(start, in: text)
    return error("the \(kind) that begins at \(opening) is not closed; add a '\(closing)'")
  }
}

// MARK: - Space and comments

extension JSONParser {
  /// Skips white space, line terminators and comments.
  mutating func skipSpace() throws(JSONSyntaxError) {
    while let byte = next {
      switch byte {
      case 0x09...0x0D, 0x20: offset += 1
      case UInt8(ascii: "/"): try skipComment()
      case 0x80...:
        guard let scalar = nextScalar, Self.isSpace(scalar) else { return }
        offset += UTF8.width(scalar)
      default: return
      }
    }
  }

  static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{FEFF}", "\u{2028}", "\u{2029}": true
    default: scalar.properties.generalCategory == .spaceSeparator
    }
  }

  private mutating func skipComment() throws(JSONSyntaxError) {
    let start = offset
    switch byte(1) {
    case UInt8(ascii: "/"):
      while next != nil, lineTerminatorLength == 0 { offset += 1 }
    case UInt8(ascii: "*"):
      offset += 2
      while next != UInt8(ascii: "*") || byte(1) != UInt8(ascii: "/") {
        if next == nil { throw error("this comment is not closed; add */", at: start) }
        offset += 1
      }
      offset += 2
    default:
      throw error("expected a comment, as in // or /* */", at: start)
    }
  }
}
