/// A set of bytes, as 256 bits.
struct ByteSet: Sendable, Hashable {
  // Not an array, so that a pattern step with a set needs no heap allocation.
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private var third: UInt64 = 0
  private var fourth: UInt64 = 0

  init() {}

  /// Creates a set of the bytes for which `isMember` returns true.
  init(where isMember: (UInt8) -> Bool) {
    for byte in UInt8.min...UInt8.max where isMember(byte) { insert(byte) }
  }

  func contains(_ byte: UInt8) -> Bool {
    let bit: UInt64 = 1 << UInt64(byte & 63)
    return switch byte >> 6 {
    case 0: first & bit != 0
    case 1: second & bit != 0
    case 2: third & bit != 0
    default: fourth & bit != 0
    }
  }

  mutating func insert(_ byte: UInt8) {
    let bit: UInt64 = 1 << UInt64(byte & 63)
    switch byte >> 6 {
    case 0: first |= bit
    case 1: second |= bit
    case 2: third |= bit
    default: fourth |= bit
    }
  }

  mutating func formUnion(_ other: ByteSet) {
    first |= other.first
    second |= other.second
    third |= other.third
    fourth |= other.fourth
  }
}
