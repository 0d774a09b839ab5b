/// A JSON value that a client has sent. What no message of ours has is not kept.
enum JSONValue: Hashable, Sendable {
  case string(String)
  case array([JSONValue])
  /// Of members with the same key, the last one counts.
  case object([String: JSONValue])
  /// A number, a boolean or null.
  case other

  /// Reads a JSON text strictly. `nil` if it is malformed, nested deeper than 16, or longer than
  /// 64 KiB.
  init?(parsing text: [UInt8]) {
    guard text.count <= 65_536 else { return nil }
    var reader = JSONReader(rest: text[...])
    guard let value = reader.value(depth: 16), reader.isAtEnd else { return nil }
    self = value
  }
}

private struct JSONReader {
  private var rest: ArraySlice<UInt8>

  init(rest: ArraySlice<UInt8>) {
    self.rest = rest
  }

  /// Whether nothing but white space is left.
  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return rest.isEmpty
    }
  }

  mutating func value(depth: Int) -> JSONValue? {
    guard depth > 0 else { return nil }
    skipSpace()
    switch rest.first {
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "t"): return take("true") ? .other : nil
    case UInt8(ascii: "f"): return take("false") ? .other : nil
    case UInt8(ascii: "n"): return take("null") ? .other : nil
    default: return number() ? .other : nil
    }
  }

  private mutating func skipSpace() {
    rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }

  private mutating func take(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  private mutating func array(depth: Int) -> JSONValue? {
    var elements: [JSONValue] = []
    let isSound = list("[", "]") { reader in
      guard let element = reader.value(depth: depth - 1) else { return false }
      elements.append(element)
      return true
    }
    return isSound ? .array(elements) : nil
  }

  private mutating func object(depth: Int) -> JSONValue? {
    var members: [String: JSONValue] = [:]
    let isSound = list("{", "}") { reader in
      reader.skipSpace()
      guard let key = reader.string() else { return false }
      reader.skipSpace()
      guard reader.take(":"), let member = reader.value(depth: depth - 1) else { return false }
      members[key] = member
      return true
    }
    return isSound ? .object(members) : nil
  }

  /// Reads what is between brackets, separated by commas.
  private mutating func list(
    _ opening: String, _ closing: String, _ element: (inout JSONReader) -> Bool
  ) -> Bool {
    guard take(opening) else { return false }
    skipSpace()
    if take(closing) { return true }
    while element(&self) {
      skipSpace()
      if take(closing) { return true }
      guard take(",") else { return false }
    }
    return false
  }

  private mutating func number() -> Bool {
    _ = take("-")
    if !take("0"), !digits() { return false }
    if take("."), !digits() { return false }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      return digits()
    }
    return true
  }

  private mutating func digits() -> Bool {
    let count = rest.prefix(while: \.isDigitASCII).count
    rest = rest.dropFirst(count)
    return count > 0
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        bytes += Array(String(scalar).utf8)
      case ..<0x20: return nil
      default: bytes.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    switch rest.popFirst() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = hexadecimal() else { return nil }
      guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
      guard take("\\u"), let low = hexadecimal(), (0xDC00..<0xE000).contains(low) else {
        return nil
      }
      return Unicode.Scalar(0x1_0000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    default: return nil
    }
  }

  private mutating func hexadecimal() -> UInt32? {
    var number: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = rest.popFirst()?.hexadecimalValue else { return nil }
      number = number << 4 | UInt32(digit)
    }
    return number
  }
}
