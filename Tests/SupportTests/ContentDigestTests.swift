import Support
import TestSupport
import Testing

private func digest(_ bytes: [UInt8]) -> ContentDigest {
  bytes.withUnsafeBytes { ContentDigest(of: $0) }
}

private func digest(_ text: String) -> ContentDigest {
  digest(Array(text.utf8))
}

extension ContentDigest {
  /// The number of bits that differ.
  fileprivate func distance(to other: ContentDigest) -> Int {
    (high ^ other.high).nonzeroBitCount + (low ^ other.low).nonzeroBitCount
  }
}

struct ContentDigestTests {
  /// Known digests, which must never change.
  private static let known: [(text: String, digest: ContentDigest)] = [
    ("", ContentDigest(high: 0xac8a_cfd6_cb9e_e087, low: 0xacff_5c81_d593_6a8f)),
    ("a", ContentDigest(high: 0xd4e0_fc89_65ae_db37, low: 0x1ed6_b244_a4d5_c0c7)),
    ("watchrun", ContentDigest(high: 0xc19d_9728_98c5_05f6, low: 0x8261_38c2_8719_8ab6)),
    (
      String(repeating: "0123456789", count: 10),
      ContentDigest(high: 0x37bd_e026_a7ce_2003, low: 0xc540_db3f_d6f5_acf8)
    ),
  ]

  @Test func `digests are the same on every machine`() {
    for (text, expected) in Self.known { #expect(digest(text) == expected, "'\(text)'") }
  }

  @Test func `zeros of every length differ`() {
    let digests = (0...300).map { digest(Array(repeating: 0, count: $0)) }
    #expect(Set(digests).count == digests.count)
    #expect(Set(digests.map(\.low)).count == digests.count)
    #expect(Set(digests.map(\.high)).count == digests.count)
  }

  @Test func `each bit of the input changes about half of the digest`() {
    var generator = SeededGenerator(seed: 1)
    var total = 0
    var trials = 0
    for length in 1...100 {
      var bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let whole = digest(bytes)
      for bit in 0..<(length * 8) {
        bytes[bit / 8] ^= 1 << (bit % 8)
        let distance = whole.distance(to: digest(bytes))
        bytes[bit / 8] ^= 1 << (bit % 8)
        // Of 128 fair coins, fewer than 24 heads fall once in 10^12 times.
        #expect((24...104).contains(distance), "bit \(bit) of \(length) bytes")
        total += distance
        trials += 1
      }
    }
    let mean = Double(total) / Double(trials)
    #expect((63.5...64.5).contains(mean), "\(mean) of 128")
  }

  @Test func `each bit of the digest depends on each bit of the input`() {
    var generator = SeededGenerator(seed: 2)
    var flips = Array(repeating: 0, count: 128)
    let rounds = 2000
    for _ in 0..<rounds {
      var bytes = (0..<48).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let before = digest(bytes)
      let bit = Int.random(in: 0..<384, using: &generator)
      bytes[bit / 8] ^= 1 << (bit % 8)
      let after = digest(bytes)
      for place in 0..<64 {
        flips[place] += Int((before.low ^ after.low) >> UInt64(place) & 1)
        flips[place + 64] += Int((before.high ^ after.high) >> UInt64(place) & 1)
      }
    }
    // Six standard deviations.
    #expect(flips.allSatisfy { abs($0 - rounds / 2) < 135 })
  }

  @Test func `small differences in small files have different digests`() {
    // Two bytes anywhere in 64, each of three values: similar inputs collide in bad hashes.
    var seen: Set<ContentDigest> = []
    var count = 0
    for first in 0..<64 {
      for second in (first + 1)..<64 {
        for value in [1, 2, 16] as [UInt8] {
          var bytes = [UInt8](repeating: 0, count: 64)
          bytes[first] = value
          bytes[second] = value << 3
          seen.insert(digest(bytes))
          count += 1
        }
      }
    }
    #expect(seen.count == count)
  }

  @Test func `exchanged stripes have different digests`() {
    let one = Array("0123456789abcdef0123456789abcdef".utf8)
    let other = Array("fedcba9876543210fedcba9876543210".utf8)
    #expect(digest(one + other) != digest(other + one))
    #expect(digest(one + one) != digest(one))
  }
}
