/// The last bytes of a stream, at most 16, in one integer, which is cheap to compare.
struct ByteWindow: Hashable {
  private var bytes: UInt128 = 0
  /// The number of appended bytes; 17 if there were more than 16.
  private var count = 0
  /// A mask with ones at the positions of bytes.
  private var mask: UInt128 = 0

  /// Creates an empty window.
  init() {}

  /// Creates the window after these bytes, at most 16.
  init(_ text: StaticString) {
    text.withUTF8Buffer { for byte in $0 { append(byte) } }
  }

  /// Appends a byte, and drops the oldest of more than 16.
  mutating func append(_ byte: UInt8) {
    bytes = bytes << 8 | UInt128(byte)
    mask = mask << 8 | 0xFF
    if count <= 16 { count += 1 }
  }

  /// Whether the last bytes are those of `suffix`.
  func hasSuffix(_ suffix: ByteWindow) -> Bool {
    bytes & suffix.mask == suffix.bytes && mask & suffix.mask == suffix.mask
  }

  /// Whether the bytes are a prefix of `other`.
  func isPrefix(of other: ByteWindow) -> Bool {
    count <= other.count && bytes == other.bytes >> UInt128(8 * (other.count - count))
  }

  private func prefixed(with prefix: ByteWindow) -> ByteWindow {
    var result = prefix
    result.bytes = prefix.bytes << UInt128(8 * count) | bytes
    result.mask = prefix.mask << UInt128(8 * count) | mask
    result.count = min(prefix.count + count, 16)
    return result
  }
}

extension ByteWindow {
  static let body = ByteWindow("body")
  static let script = ByteWindow("script")
  static let template = ByteWindow("template")
  static let plainText = ByteWindow("plaintext")
  static let commentStart = ByteWindow("<!--")
  static let commentEnd = ByteWindow("-->")
  static let commentEndBang = ByteWindow("--!>")
  static let dashGreater = ByteWindow("->")

  /// The elements whose content is not parsed as markup when scripting is enabled.
  static let rawElements: Set<ByteWindow> = [
    ByteWindow("iframe"), ByteWindow("noembed"), ByteWindow("noframes"), ByteWindow("noscript"),
    ByteWindow("script"), ByteWindow("style"), ByteWindow("textarea"), ByteWindow("title"),
    ByteWindow("xmp"),
  ]

  /// `<` and the name.
  static func startTag(_ name: ByteWindow) -> ByteWindow { name.prefixed(with: opening) }

  /// `</` and the name.
  static func endTag(_ name: ByteWindow) -> ByteWindow { name.prefixed(with: endOpening) }

  private static let opening = ByteWindow("<")
  private static let endOpening = ByteWindow("</")
}
