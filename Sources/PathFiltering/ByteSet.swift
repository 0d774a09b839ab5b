/// A set of bytes, as 256 bits.
struct ByteSet: Sendable, Hashable {
  // Not an array, so that a pattern step with a set needs no heap allocation.
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init() {}

  /// Creates a set of the bytes for which `isMember` returns true.
  init(where isMember: (UInt8) -> Bool) {
    for byte in UInt8.min...UInt8.max where isMember(byte) { insert(byte) }
  }

  func contains(_ byte: UInt8) -> Bool {
    let bit: UInt64 = 1 << UInt64(byte & 63)
    return switch byte >> 6 {
    case 0: words.0 & bit != 0
    case 1: words.1 & bit != 0
    case 2: words.2 & bit != 0
    default: words.3 & bit != 0
    }
  }

  mutating func insert(_ byte: UInt8) {
    let bit: UInt64 = 1 << UInt64(byte & 63)
    switch byte >> 6 {
    case 0: words.0 |= bit
    case 1: words.1 |= bit
    case 2: words.2 |= bit
    default: words.3 |= bit
    }
  }

  mutating func formUnion(_ other: ByteSet) {
    words.0 |= other.words.0
    words.1 |= other.words.1
    words.2 |= other.words.2
    words.3 |= other.words.3
  }

  static func == (left: ByteSet, right: ByteSet) -> Bool {
    left.words == right.words
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
