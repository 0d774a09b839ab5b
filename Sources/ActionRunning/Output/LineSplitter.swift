/// Splits a stream of bytes into lines, without line feeds. A line longer than `longest` is delivered in pieces,
/// so that the buffer is bounded.
struct LineSplitter: Sendable {
  static let longest = 64 * 1024

  /// A line, or a piece of one.
  struct Piece: Hashable, Sendable {
    var bytes: [UInt8]
    /// Whether the next piece continues the line.
    var isSplit = false
  }

  /// The line, or the piece of one, that has not been completed yet.
  private(set) var rest: [UInt8] = []
  /// Whether the last piece was not the end of its line.
  private var isInLine = false

  /// Adds bytes and returns the lines and pieces that they complete.
  mutating func add(_ bytes: some Sequence<UInt8>) -> [Piece] {
    var pieces: [Piece] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        pieces.append(take(isSplit: false))
      } else {
        // Only with the next byte it is known that the line does not end here.
        if rest.count == Self.longest { pieces.append(take(isSplit: true)) }
        rest.append(byte)
      }
    }
    return pieces
  }

  /// Returns the last line if it has no line feed; `nil` if it is empty.
  mutating func finish() -> Piece? {
    rest.isEmpty && !isInLine ? nil : take(isSplit: false)
  }

  private mutating func take(isSplit: Bool) -> Piece {
    defer { (rest, isInLine) = ([], isSplit) }
    return Piece(bytes: rest, isSplit: isSplit)
  }
}
