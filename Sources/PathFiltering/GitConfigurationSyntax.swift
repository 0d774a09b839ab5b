import Support

/// Reads the syntax of git's configuration files: `[section "subsection"]`, then `key = value`.
///
/// Like git, it reads byte by byte: parts of a value may be quoted, a backslash continues it on the
/// next line, and a comment ends it. Reading ends at a syntax error, at which git would refuse the
/// file; settings before the error apply.
struct GitConfigurationSyntax {
  private let bytes: [UInt8]
  private var index = 0
  /// `section` in lowercase, or `section.subsection`; empty before the first.
  private var section: [UInt8] = []

  init(_ contents: [UInt8]) {
    bytes = Array(contents.withoutByteOrderMark)
  }

  /// A setting. The value is `nil` for a key without one, which means true.
  struct Entry: Equatable {
    /// `section.key`, or `section.subsection.key`; section and key in lowercase.
    let name: String
    let value: [UInt8]?
  }

  /// Reads the next setting; `nil` at the end, and at a syntax error.
  mutating func next() -> Entry? {
    while index < bytes.count {
      switch bytes[index] {
      case let byte where byte.isBlank:
        index += 1
      case Byte.hash, Byte.semicolon:
        skipComment()
      case Byte.openBracket:
        index += 1
        guard readSection() else { return fail() }
      case let byte where byte.isLetterASCII:
        let key = readName()
        guard let value = readValue() else { return fail() }
        let name = section + [Byte.dot] + key
        return Entry(name: name.decoded, value: value.text)
      default:
        return fail()
      }
    }
    return nil
  }

  private mutating func fail() -> Entry? {
    index = bytes.count
    return nil
  }

  private mutating func skipComment() {
    while index < bytes.count, bytes[index] != Byte.newline { index += 1 }
  }

  /// Reads the byte at `index`. Any line ending, and the end of the file, is read as a newline.
  private mutating func take() -> UInt8 {
    guard index < bytes.count else { return Byte.newline }
    index += 1
    let isLineEnd =
      bytes[index - 1] == Byte.carriageReturn && index < bytes.count
      && bytes[index] == Byte.newline
    if isLineEnd { index += 1 }
    return bytes[index - 1]
  }

  // MARK: - Parts

  private mutating func readName() -> [UInt8] {
    let begin = index
    while index < bytes.count, bytes[index].isKeyByte { index += 1 }
    return bytes[begin..<index].map(\.lowercasedASCII)
  }

  /// Reads `section]` or `section "subsection"]` after the `[`. Returns false at a syntax error.
  private mutating func readSection() -> Bool {
    let begin = index
    while index < bytes.count, bytes[index].isKeyByte || bytes[index] == Byte.dot { index += 1 }
    section = bytes[begin..<index].map(\.lowercasedASCII)
    var next = take()
    if next == Byte.closeBracket { return true }

    guard next.isBlank else { return false }
    while next.isBlank, next != Byte.newline { next = take() }
    guard next == Byte.quote else { return false }
    section.append(Byte.dot)
    while true {
      next = take()
      if next == Byte.quote { return take() == Byte.closeBracket }
      if next == Byte.backslash { next = take() }
      if next == Byte.newline { return false }
      section.append(next)
    }
  }

  /// Reads `= value`, or only the end of the line; `text` is then `nil`. Returns `nil` at a syntax
  /// error.
  private mutating func readValue() -> (text: [UInt8]?, Void)? {
    var next = take()
    while next == Byte.space || next == Byte.tab { next = take() }
    if next == Byte.newline { return (nil, ()) }
    guard next == Byte.equals else { return nil }

    var value: [UInt8] = []
    // The length of the value without trailing blanks.
    var end = 0
    var isQuoted = false
    while true {
      next = take()
      if next == Byte.newline {
        return isQuoted ? nil : (Array(value[..<end]), ())
      } else if next.isBlank, !isQuoted {
        if !value.isEmpty { value.append(next) }
      } else if next == Byte.hash || next == Byte.semicolon, !isQuoted {
        skipComment()
      } else if next == Byte.quote {
        isQuoted.toggle()
        end = value.count
      } else if next == Byte.backslash {
        let escaped = take()
        if escaped == Byte.newline { continue }
        guard let byte = Self.escapes[escaped] else { return nil }
        value.append(byte)
        end = value.count
      } else {
        value.append(next)
        end = value.count
      }
    }
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "t"): Byte.tab, UInt8(ascii: "n"): Byte.newline, UInt8(ascii: "b"): 8,
    Byte.backslash: Byte.backslash, Byte.quote: Byte.quote,
  ]
}

extension UInt8 {
  fileprivate var isBlank: Bool {
    self == Byte.space || self == Byte.tab || self == Byte.newline || self == Byte.carriageReturn
  }

  fileprivate var isKeyByte: Bool { isLetterASCII || isDigitASCII || self == Byte.hyphen }
}
