/// The encoding of a document, as far as it matters for finding and inserting ASCII.
enum TextEncoding: Sendable {
  /// UTF-8, ISO 8859, Shift_JIS and others in which an ASCII character is its byte.
  case asciiCompatible
  case utf16LittleEndian
  case utf16BigEndian

  /// The byte order marks.
  static let marks: [(bytes: [UInt8], encoding: TextEncoding)] = [
    ([0xEF, 0xBB, 0xBF], .asciiCompatible), ([0xFF, 0xFE], .utf16LittleEndian),
    ([0xFE, 0xFF], .utf16BigEndian),
  ]

  /// The encoding of a `Content-Type`.
  init(contentType: some Collection<UInt8>) {
    let charset = MediaType.charset(of: contentType) ?? []
    switch String(decoding: charset, as: UTF8.self) {
    case "utf-16", "utf-16le", "ucs-2", "unicode": self = .utf16LittleEndian
    case "utf-16be": self = .utf16BigEndian
    default: self = .asciiCompatible
    }
  }

  /// The bytes of an ASCII character.
  var width: Int { self == .asciiCompatible ? 1 : 2 }

  /// The characters of a text, with 0x80 for any that is not ASCII, without an incomplete one at the end.
  func ascii(_ text: [UInt8]) -> [UInt8] {
    if self == .asciiCompatible { return text }
    let low = self == .utf16LittleEndian ? 0 : 1
    return stride(from: 0, to: text.count - 1, by: 2).map { start in
      text[start + 1 - low] == 0 && text[start + low] < 0x80 ? text[start + low] : 0x80
    }
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
