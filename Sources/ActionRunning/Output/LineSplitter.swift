/// Splits a stream of bytes into lines, without line feeds. Longer lines than `longest` are split,
/// so that the buffer is bounded.
struct LineSplitter: Sendable {
  static let longest = 64 * 1024

  /// The line that has not been completed yet.
  private(set) var rest: [UInt8] = []

  /// Adds bytes and returns the lines that they complete.
  mutating func add(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(take())
      } else {
        rest.append(byte)
        if rest.count == Self.longest { lines.append(take()) }
      }
    }
    return lines
  }

  /// Returns the last line if it has no line feed; `nil` if it is empty.
  mutating func finish() -> [UInt8]? {
    rest.isEmpty ? nil : take()
  }

  private mutating func take() -> [UInt8] {
    defer { rest = [] }
    return rest
  }
}
