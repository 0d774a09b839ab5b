import Support

/// The header fields of a message, in order. Names are case-insensitive.
struct HTTPFields: Sendable {
  /// All names and values.
  private(set) var pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

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
    // Copies, which keep no buffer in memory.
    pairs.append((Array(name)[...], Array(value)[...]))
  }

  /// Appends a folded line to the last field. Returns whether there is one.
  mutating func extendLast(by more: some Collection<UInt8>) -> Bool {
    guard let last = pairs.indices.last else { return false }
    if !more.isEmpty && !pairs[last].value.isEmpty { pairs[last].value.append(32) }
    pairs[last].value += more
    return true
  }

  /// Replaces all fields of a name by one.
  mutating func set(_ name: String, _ value: some Collection<UInt8>) {
    remove(name)
    append(name, value)
  }

  mutating func remove(_ name: String) {
    pairs.removeAll { $0.name.equalsIgnoringCase(name) }
  }

  /// The values of all fields of a name.
  func all(_ name: String) -> [ArraySlice<UInt8>] {
    pairs.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
  }

  /// The value of the first field of a name.
  func first(_ name: String) -> ArraySlice<UInt8>? {
    pairs.first { $0.name.equalsIgnoringCase(name) }?.value
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

  /// The fields after a first line, up to the empty line that ends them.
  func written(after line: [UInt8]) -> [UInt8] {
    var output = line + [13, 10]
    for (name, value) in pairs {
      output += name
      output += [UInt8(ascii: ":"), UInt8(ascii: " ")]
      output += value
      output += [13, 10]
    }
    return output + [13, 10]
  }

  /// The fields as those of an answer.
  func written(status: Int, _ reason: [UInt8]) -> [UInt8] {
    written(after: Array("HTTP/1.1 \(status) ".utf8) + reason)
  }

  /// The end of a chunked body with these fields.
  var lastChunk: [UInt8] { written(after: Array("0".utf8)) }
}

extension [UInt8] {
  /// The bytes as a part of a chunked body.
  var chunk: [UInt8] { Array(String(count, radix: 16).utf8) + [13, 10] + self + [13, 10] }
}

extension UInt8 {
  /// Whether the byte is valid in a method or a field name (RFC 9110, 5.6.2).
  var isToken: Bool {
    isLetterASCII || isDigitASCII || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}
