/// The encoding of a document, as far as it matters for finding and inserting ASCII.
enum TextEncoding: Sendable {
  /// UTF-8, ISO 8859, Shift_JIS and others in which an ASCII character is its byte.
  case asciiCompatible
  case utf16LittleEndian
  case utf16BigEndian

  private static let marks: [(bytes: [UInt8], encoding: TextEncoding)] = [
    ([0xEF, 0xBB, 0xBF], .asciiCompatible), ([0xFF, 0xFE], .utf16LittleEndian),
    ([0xFE, 0xFF], .utf16BigEndian),
  ]

  /// The encoding that a byte order mark means; `nil` if the bytes are none.
  init?(byteOrderMark bytes: [UInt8]) {
    guard let found = Self.marks.first(where: { $0.bytes == bytes }) else { return nil }
    self = found.encoding
  }

  static func mayBeginByteOrderMark(_ bytes: [UInt8]) -> Bool {
    marks.contains { $0.bytes.starts(with: bytes) }
  }

  /// The encoding of a `Content-Type`.
  init(contentType: some Collection<UInt8>) {
    let charset = MediaType.charset(of: contentType) ?? []
    switch String(decoding: charset, as: UTF8.self) {
    case "utf-16", "utf-16le", "ucs-2", "unicode": self = .utf16LittleEndian
    case "utf-16be": self = .utf16BigEndian
    default: self = .asciiCompatible
    }
  }

  /// The character that these bytes are, with 0x80 for any that is not ASCII; `nil` if they are incomplete.
  func unit(_ bytes: [UInt8]) -> UInt8? {
    guard self != .asciiCompatible else { return bytes.first }
    guard bytes.count == 2 else { return nil }
    let (low, high) = self == .utf16LittleEndian ? (bytes[0], bytes[1]) : (bytes[1], bytes[0])
    return high == 0 && low < 0x80 ? low : 0x80
  }

  /// ASCII in this encoding.
  func encode(_ text: [UInt8]) -> [UInt8] {
    switch self {
    case .asciiCompatible: text
    case .utf16LittleEndian: text.flatMap { [$0, 0] }
    case .utf16BigEndian: text.flatMap { [0, $0] }
    }
  }
}
