import Support

/// The syntax of git's configuration files: `[section]`, then `key = value` in each line.
///
/// As in git, parts of a value may be quoted, a backslash continues it on the next line, and a comment ends it. git
/// would refuse a file with a syntax error; here the other lines apply.
enum GitConfigurationSyntax {
  /// A setting. The value is `nil` for a key without one, which means true.
  struct Entry: Equatable {
    /// `section.key`, or `section subsection.key`, in lowercase.
    let name: String
    let value: [UInt8]?
  }

  static func entries(in contents: [UInt8]) -> [Entry] {
    var entries: [Entry] = []
    var section: [UInt8] = []
    var rest = contents.withoutByteOrderMark
    while true {
      rest = rest.drop(while: \.isBlank)
      if rest.isEmpty { return entries }
      if rest.first == UInt8(ascii: "[") {
        rest.removeFirst()
        section = unquoted(&rest, until: "]")
        rest = rest.dropFirst()
        continue
      }
      let key = unquoted(&rest, until: "=#;")
      var value: [UInt8]?
      if rest.first == UInt8(ascii: "=") {
        rest.removeFirst()
        value = unquoted(&rest, until: "#;")
      }
      rest = rest.drop { $0 != UInt8(ascii: "\n") }
      let name = (section + [UInt8(ascii: ".")] + key).map(\.lowercasedASCII)
      if !key.isEmpty { entries.append(Entry(name: name.decoded, value: value)) }
    }
  }

  /// Removes what precedes the end of a line, and one of the characters outside quotes. Returns it without quotes,
  /// escapes, and blanks at its ends that are not quoted.
  private static func unquoted(_ rest: inout ArraySlice<UInt8>, until ends: String) -> [UInt8] {
    var text: [UInt8] = []
    // The length of the text without trailing blanks.
    var end = 0
    var isQuoted = false
    while let byte = rest.first, byte != UInt8(ascii: "\n"), isQuoted || !ends.utf8.contains(byte) {
      rest.removeFirst()
      if byte.isBlank, !isQuoted {
        if !text.isEmpty { text.append(byte) }
        continue
      }
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: "\\") {
        var escaped = rest.popFirst()
        if escaped == UInt8(ascii: "\r") { escaped = rest.popFirst() }
        guard let escaped, escaped != UInt8(ascii: "\n") else { continue }
        text.append(escapes[escaped] ?? escaped)
      } else {
        text.append(byte)
      }
      end = text.count
    }
    return Array(text[..<end])
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "t"): UInt8(ascii: "\t"), UInt8(ascii: "n"): UInt8(ascii: "\n"),
    UInt8(ascii: "b"): 8,
  ]
}

extension UInt8 {
  fileprivate var isBlank: Bool {
    " \t\n\r".utf8.contains(self)
  }
}
