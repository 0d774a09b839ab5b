/// A fingerprint of the body of a document, which is added part by part.
struct BodyFingerprint: Hashable, Sendable {
  /// A hash of all bytes (FNV-1a).
  private(set) var all = Self.start
  /// A hash of the bytes up to the present word, without the words that contain a digit.
  private var former = Self.start
  /// The same, with the present word.
  private var present = Self.start
  private var hasDigit = false

  private static let start: UInt64 = 0xcbf2_9ce4_8422_2325

  /// A hash without the words that contain a digit. Tokens, nonces and times differ in such words.
  var withoutNumbers: UInt64 { hasDigit ? former : present }

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes {
      Self.add(byte, to: &all)
      if !byte.isLetterASCII && !byte.isDigitASCII && !"-_+/".utf8.contains(byte) {
        (former, hasDigit) = (withoutNumbers, false)
        Self.add(byte, to: &former)
        present = former
      } else {
        Self.add(byte, to: &present)
        if byte.isDigitASCII { hasDigit = true }
      }
    }
  }

  private static func add(_ byte: UInt8, to hash: inout UInt64) {
    hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}
