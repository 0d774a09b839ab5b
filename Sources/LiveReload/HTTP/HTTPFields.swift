import Support

/// The header fields of a message, in order. Names are case-insensitive.
struct HTTPFields: Sendable {
  private struct Field {
    var name: Range<Int>
    var value: Range<Int>
  }

  /// The names and values of all fields, including removed ones.
  private var bytes: [UInt8] = []
  private var fields: [Field] = []

  init() {}

  init(_ pairs: KeyValuePairs<String, String>) {
    for (name, value) in pairs { append(name, value) }
  }

  mutating func append(_ name: String, _ value: String) {
    append(name.utf8, value.utf8)
  }

  mutating func append(_ name: String, _ value: some Collection<UInt8>) {
    append(name.utf8, value)
  }

  mutating func append(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
    let start = bytes.count
    bytes.append(contentsOf: name)
    let middle = bytes.count
    bytes.append(contentsOf: value)
    fields.append(Field(name: start..<middle, value: middle..<bytes.count))
  }

  /// Appends a folded line to the last field. Returns whether there is one.
  mutating func extendLast(by more: some Collection<UInt8>) -> Bool {
    guard let last = fields.indices.last else { return false }
    if !more.isEmpty && !fields[last].value.isEmpty { bytes.append(32) }
    bytes += more
    fields[last].value = fields[last].value.lowerBound..<bytes.count
    return true
  }

  /// Replaces all fields of a name by one.
  mutating func set(_ name: String, _ value: some Collection<UInt8>) {
    remove(name)
    append(name, value)
  }

  mutating func set(_ name: String, _ value: String) {
    set(name, value.utf8)
  }

  mutating func remove(_ name: String) {
    fields.removeAll { bytes[$0.name].equalsIgnoringCase(name) }
  }

  /// The values of all fields of a name.
  func all(_ name: String) -> [ArraySlice<UInt8>] {
    fields.compactMap { bytes[$0.name].equalsIgnoringCase(name) ? bytes[$0.value] : nil }
  }

  /// The value of the first field of a name.
  func first(_ name: String) -> ArraySlice<UInt8>? {
    fields.first { bytes[$0.name].equalsIgnoringCase(name) }.map { bytes[$0.value] }
  }

  /// The elements of the comma-separated lists in all fields of a name, in lowercase.
  func list(_ name: String) -> [[UInt8]] {
    all(name).flatMap { $0.split(separator: UInt8(ascii: ",")) }
      .map { $0.trimmedBlanks.lowercasedASCII }
      .filter { !$0.isEmpty }
  }

  /// Whether a comma-separated list contains an element.
  func list(_ name: String, has element: String) -> Bool {
    list(name).contains { $0.elementsEqual(element.utf8) }
  }

  /// Appends the serialized fields, each with a line ending.
  func write(to output: inout [UInt8]) {
    for field in fields {
      output += bytes[field.name]
      output += [UInt8(ascii: ":"), UInt8(ascii: " ")]
      output += bytes[field.value]
      output += [13, 10]
    }
  }

  /// The end of a chunked body with these fields.
  var lastChunk: [UInt8] {
    var output = Array("0\r\n".utf8)
    write(to: &output)
    return output + [13, 10]
  }

  /// All names and values.
  var pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    fields.map { (bytes[$0.name], bytes[$0.value]) }
  }
}

extension UInt8 {
  /// Whether the byte is valid in a method or a field name (RFC 9110, 5.6.2).
  var isToken: Bool {
    isLetterASCII || isDigitASCII || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}
