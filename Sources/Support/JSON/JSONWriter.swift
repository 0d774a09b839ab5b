/// JSON, written piece by piece. Commas are set between values by themselves.
///
/// `<` is escaped, so that the result can stand in a script element of a page.
struct JSONWriter {
  /// What has been written.
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// A writer that has written nothing.
  init() {}

  /// The bytes that `build` writes.
  static func encode(_ build: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    build(&writer)
    return writer.bytes
  }

  // MARK: - Values

  /// Writes an object; `build` writes its members.
  mutating func object(_ build: (inout JSONWriter) -> Void) {
    nest("{", "}", build)
  }

  /// Writes an array; `build` writes its elements.
  mutating func array(_ build: (inout JSONWriter) -> Void) {
    nest("[", "]", build)
  }

  /// Writes a string, or `null`.
  mutating func value(_ string: String?) {
    guard let string else { return null() }
    separate()
    quote(string)
  }

  /// Writes a number, or `null`.
  mutating func value(_ number: Int?) {
    guard let number else { return null() }
    separate()
    bytes += String(number).utf8
  }

  /// Writes a boolean, or `null`.
  mutating func value(_ boolean: Bool?) {
    guard let boolean else { return null() }
    separate()
    bytes += (boolean ? "true" : "false").utf8
  }

  /// Writes `null`.
  mutating func null() {
    separate()
    bytes += "null".utf8
  }

  /// Writes a value that is JSON already.
  mutating func json(_ text: [UInt8]) {
    separate()
    bytes += text
  }

  // MARK: - Members of an object

  /// Writes a member's key; its value must follow.
  mutating func key(_ name: String) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a member that is a string, or `null`.
  mutating func member(_ name: String, _ string: String?) {
    key(name)
    value(string)
  }

  /// Writes a member that is a number, or `null`.
  mutating func member(_ name: String, _ number: Int?) {
    key(name)
    value(number)
  }

  /// Writes a member that is a boolean, or `null`.
  mutating func member(_ name: String, _ boolean: Bool?) {
    key(name)
    value(boolean)
  }

  /// Writes a member that is an object.
  mutating func object(_ name: String, _ build: (inout JSONWriter) -> Void) {
    key(name)
    object(build)
  }

  /// Writes a member that is an array.
  mutating func array(_ name: String, _ build: (inout JSONWriter) -> Void) {
    key(name)
    array(build)
  }

  // MARK: - Text

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func nest(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ build: (inout JSONWriter) -> Void
  ) {
    separate()
    bytes.append(UInt8(ascii: opening))
    needsComma = false
    build(&self)
    bytes.append(UInt8(ascii: closing))
    needsComma = true
  }

  private mutating func quote(_ string: String) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": bytes += #"\""#.utf8
      case "\\": bytes += #"\\"#.utf8
      case "\n": bytes += #"\n"#.utf8
      case "\r": bytes += #"\r"#.utf8
      case "\t": bytes += #"\t"#.utf8
      // The separators end a line in older JavaScript.
      case "\u{0}"..<"\u{20}", "<", "\u{7F}", "\u{2028}", "\u{2029}":
        let hex = String(scalar.value, radix: 16)
        bytes += (#"\u"# + String(repeating: "0", count: 4 - hex.count) + hex).utf8
      default: bytes += UTF8.encode(scalar).map { Array($0) } ?? []
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
