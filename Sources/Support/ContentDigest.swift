/// A digest of the content of a file: 128 bits that are equal for equal bytes on every machine.
///
/// Two different files have the same digest with a probability of about 2^-128. It is not a
/// cryptographic hash: collisions can be constructed.
package struct ContentDigest: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The digest as 32 digits.
  package var text: String { String(high, digits: 16) + String(low, digits: 16) }
}

// MARK: - Stripes

extension ContentDigest {
  private typealias Stripe = SIMD4<UInt64>

  private static let beginning = Stripe(
    0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89)
  private static let golden: UInt64 = 0x9e37_79b9_7f4a_7c15

  /// Each stripe of 32 bytes is added to four lanes of one word, which are then mixed. Each step is
  /// invertible, so that a difference can only be cancelled by another one that matches it in all 256
  /// bits.
  package init(of bytes: UnsafeRawBufferPointer) {
    let stripeSize = MemoryLayout<Stripe>.size
    let whole = bytes.count / stripeSize * stripeSize
    var lanes = Self.beginning
    for offset in stride(from: 0, to: whole, by: stripeSize) {
      Self.take(Self.stripe(bytes, at: offset), into: &lanes)
    }
    // The length distinguishes the padding of the last stripe from zeros in the file.
    let length = UInt64(bytes.count)
    var last = Stripe.zero
    withUnsafeMutableBytes(of: &last) { $0.copyBytes(from: bytes[whole...]) }
    Self.take(withUnsafeBytes(of: last) { Self.stripe($0, at: 0) }, into: &lanes)
    Self.take(Stripe(length, ~length, length &* Self.golden, 0), into: &lanes)
    for _ in 0..<4 { Self.take(.zero, into: &lanes) }
    high = Self.mix(lanes[0] &+ Self.rotate(lanes[2], 19))
    low = Self.mix(lanes[1] ^ Self.rotate(lanes[3], 41))
  }

  /// Adds a stripe to the lanes, one word to each.
  @inline(__always)
  private static func take(_ stripe: Stripe, into lanes: inout Stripe) {
    var a = rotate((lanes[0] ^ stripe[0]) &* golden, 29)
    var b = rotate((lanes[1] ^ stripe[1]) &* 0xd1b5_4a32_d192_ed03, 31)
    var c = rotate((lanes[2] ^ stripe[2]) &* 0x8cb9_2ba7_2f3d_8dd7, 33)
    var d = rotate((lanes[3] ^ stripe[3]) &* 0xabc9_8388_fb8f_ac03, 37)
    a &+= b
    c &+= d
    b ^= c
    d ^= a
    // A lane of zeros would not be changed by a word of zeros.
    lanes = Stripe(a, b, c, d &+ golden)
  }

  @inline(__always)
  private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
    (word << count) | (word >> (64 - count))
  }

  /// Mixes a word, so that each bit affects every other one.
  private static func mix(_ word: UInt64) -> UInt64 {
    var word = (word ^ (word >> 32)) &* 0xbea2_25f9_eb34_556d
    word = (word ^ (word >> 29)) &* 0xbea2_25f9_eb34_556d
    return word ^ (word >> 32)
  }

  @inline(__always)
  private static func stripe(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Stripe {
    func word(_ place: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + place, as: UInt64.self))
    }
    return Stripe(word(0), word(8), word(16), word(24))
  }
}
