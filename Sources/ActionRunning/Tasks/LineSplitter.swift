/// Cuts a stream of bytes into lines, without their ends. One that is longer than any person reads is
/// cut into pieces, so that what is kept has a bound.
struct LineSplitter: Sendable {
  static let longest = 64 * 1024

  private var rest: [UInt8] = []

  /// The lines that are complete with these bytes.
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

  /// What is left without an end; nil if nothing is.
  mutating func finish() -> [UInt8]? {
    rest.isEmpty ? nil : take()
  }

  private mutating func take() -> [UInt8] {
    defer { rest = [] }
    return rest
  }
}
