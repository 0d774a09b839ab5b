import SystemCalls

/// A writer of JSON in one line. It adds the commas between values.
///
/// Keys must not contain characters that JSON requires to be escaped. Bytes are appended in runs,
/// so that a batch of 20,000 paths is written fast.
package struct JSONWriter {
  /// The JSON written so far.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package static func encode(_ build: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    build(&writer)
    return writer.bytes
  }

  /// An object by itself; `build` writes its members.
  package static func object(_ build: (inout JSONWriter) -> Void) -> [UInt8] {
    encode { $0.object(build) }
  }

  package static func quoted(_ string: String) -> String {
    String(decoding: encode { $0.value(string) }, as: UTF8.self)
  }

  // MARK: - Values; `null` for `nil`

  /// Writes an object; `build` writes its members.
  package mutating func object(_ build: (inout JSONWriter) -> Void) {
    nest("{", "}", build)
  }

  /// Writes an array; `build` writes its elements.
  package mutating func array(_ build: (inout JSONWriter) -> Void) {
    nest("[", "]", build)
  }

  package mutating func value(_ string: String?) { write(string) { $0.quote($1) } }
  package mutating func value(_ number: Int?) { write(number) { $0.bytes += String($1).utf8 } }
  package mutating func value(_ boolean: Bool?) {
    write(boolean) { $0.bytes += ($1 ? "true" : "false").utf8 }
  }

  private mutating func write<Value>(_ value: Value?, _ body: (inout JSONWriter, Value) -> Void) {
    separate()
    if let value { body(&self, value) } else { bytes += "null".utf8 }
  }

  // MARK: - Members of an object

  package mutating func member(_ name: StaticString, _ string: String?) {
    key(name)
    value(string)
  }

  /// Writes a member that is a string of printable ASCII. Writes nothing and returns `false` for
  /// any other text.
  package mutating func member(_ name: StaticString, ascii text: [UInt8]) -> Bool {
    guard Self.isPrintableASCII(text) else { return false }
    key(name)
    needsComma = true
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text)
    bytes.append(UInt8(ascii: "\""))
    return true
  }

  package mutating func member(_ name: StaticString, _ number: Int?) {
    key(name)
    value(number)
  }

  package mutating func member(_ name: StaticString, _ boolean: Bool?) {
    key(name)
    value(boolean)
  }

  package mutating func object(_ name: StaticString, _ build: (inout JSONWriter) -> Void) {
    key(name)
    object(build)
  }

  package mutating func member(_ name: StaticString, _ strings: [String]) {
    array(name) { writer in
      for string in strings { writer.value(string) }
    }
  }

  /// Writes a member that is a path. Bytes that are not UTF-8 are replaced.
  package mutating func member(_ name: StaticString, _ path: Path) {
    member(name, String(decoding: path.bytes, as: UTF8.self))
  }

  package mutating func member(_ name: StaticString, _ paths: [Path]) {
    member(name, paths.map { String(decoding: $0.bytes, as: UTF8.self) })
  }

  package mutating func array(_ name: StaticString, _ build: (inout JSONWriter) -> Void) {
    key(name)
    array(build)
  }

  /// Writes a member that is an array of objects; `build` writes the members of each.
  package mutating func objects<Element>(
    _ name: StaticString, _ elements: [Element], _ build: (Element, inout JSONWriter) -> Void
  ) {
    array(name) { writer in
      for element in elements { writer.object { build(element, &$0) } }
    }
  }

  /// Writes the key of a member, with any characters. Its value must follow.
  package mutating func key(quoting name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: - Text

  private mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

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
    var string = string
    string.withUTF8 { text in
      if text.allSatisfy(Self.isPlain) {
        bytes.append(contentsOf: text)
      } else {
        for byte in text { append(byte) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of a string needs no escape.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Whether all bytes are plain, and ASCII. Without branches, many bytes are checked at once.
  private static func isPrintableASCII(_ text: [UInt8]) -> Bool {
    text.withUnsafeBufferPointer { text in
      var others: UInt8 = 0
      for byte in text {
        // Control characters and non-ASCII bytes set the highest bit in one of these.
        others |= (byte &- 0x20) | (byte &+ 1) | byte
        // Of ASCII, only zero sets the highest bit by this.
        others |= ((byte ^ UInt8(ascii: "\"")) &- 1) | ((byte ^ UInt8(ascii: "\\")) &- 1)
      }
      return others < 0x80
    }
  }

  private mutating func append(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
    case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
    case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
    case _ where Self.isPlain(byte): bytes.append(byte)
    default: bytes += (#"\u"# + String(byte, digits: 4)).utf8
    }
  }
}
