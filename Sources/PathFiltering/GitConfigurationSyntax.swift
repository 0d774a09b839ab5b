/// Reads the syntax of git's configuration files: `[section "subsection"]`, then `key = value`.
///
/// It goes byte by byte, as git does: a value may be quoted in parts, go on behind a backslash at
/// the end of a line, and end at a comment. Where git would refuse the file, reading ends, and what
/// stands before the fault counts.
struct GitConfigurationSyntax {
  private let bytes: [UInt8]
  private var index = 0
  /// `section` in small letters, or `section.subsection`; empty before the first.
  private var section: [UInt8] = []

  init(_ contents: [UInt8]) {
    bytes = Array(contents.withoutByteOrderMark)
  }

  /// One setting. The value is nil for a key that stands alone, which means true.
  struct Entry: Equatable {
    /// `section.key`, or `section.subsection.key`; section and key in small letters.
    let name: String
    let value: [UInt8]?
  }

  /// The next setting; nil at the end, and at a fault.
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
      case let byte where byte.isLetter:
        let key = readName()
        guard let value = readValue() else { return fail() }
        let name = section + [Byte.dot] + key
        return Entry(name: String(decoding: name, as: UTF8.self), value: value.text)
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

  /// The byte at `index`, which is then behind it. The end of a line is a newline however it is
  /// written, and so is the end of the file.
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
    return bytes[begin..<index].map(\.lowercased)
  }

  /// Reads `section]` or `section "subsection"]`, behind the `[`. False at a fault.
  private mutating func readSection() -> Bool {
    let begin = index
    while index < bytes.count, bytes[index].isKeyByte || bytes[index] == Byte.dot { index += 1 }
    section = bytes[begin..<index].map(\.lowercased)
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

  /// Reads `= value`, or just the end of the line: `text` is then nil. Nil at a fault.
  private mutating func readValue() -> (text: [UInt8]?, Void)? {
    var next = take()
    while next == Byte.space || next == Byte.tab { next = take() }
    if next == Byte.newline { return (nil, ()) }
    guard next == Byte.equals else { return nil }

    var value: [UInt8] = []
    // How much of the value is left when the blanks at its end are taken off.
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

  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased)
  }

  fileprivate var isKeyByte: Bool {
    isLetter || self == Byte.hyphen || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
