/// Splits a stream of bytes into lines, without line feeds. A line longer than `longest` is delivered in pieces,
/// so that the buffer is bounded.
struct LineSplitter: Sendable {
  static let longest = 64 * 1024

  /// A line, or a piece of one, without the line feed.
  struct Piece: Hashable, Sendable {
    var bytes: [UInt8]
    /// Whether the next piece continues the line.
    var isSplit = false
    /// False for the beginning of a line, of which more has arrived since the last piece.
    var isFinished = true
  }

  /// The line, or the piece of one, that has not been completed yet.
  private(set) var rest: [UInt8] = []
  /// Whether the last piece was not the end of its line.
  private var isInLine = false

  /// Adds bytes and returns the lines and pieces that they complete.
  mutating func add(_ bytes: some Sequence<UInt8>) -> [Piece] {
    var pieces: [Piece] = []
    var left = Array(bytes)[...]
    while let end = left.firstIndex(of: UInt8(ascii: "\n")) {
      extend(by: left[..<end], &pieces)
      pieces.append(take(isSplit: false))
      left = left[(end + 1)...]
    }
    extend(by: left, &pieces)
    return pieces
  }

  /// Adds bytes of one line. Only with a further byte it is known that the line does not end after `longest`.
  private mutating func extend(by bytes: ArraySlice<UInt8>, _ pieces: inout [Piece]) {
    var bytes = bytes
    while rest.count + bytes.count > Self.longest {
      let room = Self.longest - rest.count
      rest += bytes.prefix(room)
      bytes = bytes.dropFirst(room)
      pieces.append(take(isSplit: true))
    }
    rest += bytes
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
