/// A set of bytes, as 256 bits.
struct ByteSet: Sendable, Hashable {
  // Not an array, so that a pattern step with a set needs no heap allocation.
  private var words = SIMD4<UInt64>()

  init() {}

  /// Creates a set of the bytes for which `isMember` returns true.
  init(where isMember: (UInt8) -> Bool) {
    for byte in UInt8.min...UInt8.max where isMember(byte) { insert(byte) }
  }

  func contains(_ byte: UInt8) -> Bool {
    words[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0
  }

  mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

  mutating func formUnion(_ other: ByteSet) { words |= other.words }
}
