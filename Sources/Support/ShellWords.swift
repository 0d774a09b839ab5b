import SystemCalls

/// The words of a shell command line: split and quoted as a shell would, without a shell.
package enum ShellWords {
  /// Returns the words of `text`: separated by white space, with `'…'`, `"…"` and backslashes
  /// understood. Nothing else of a shell is. `nil` if a quotation or a backslash is not complete.
  ///
  /// - Parameter operators: Characters that are words of their own, alone or doubled.
  package static func split(_ text: String, operators: String = "") -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var last: Character?
    var rest = text.makeIterator()
    while let character = rest.next() {
      defer { last = character }
      if let open = quote {
        if character == open {
          quote = nil
        } else if character == "\\", open == "\"" {
          guard let next = rest.next() else { return nil }
          word = (word ?? "") + ("\\\"$`".contains(next) ? "" : "\\") + String(next)
        } else {
          word = (word ?? "") + String(character)
        }
        continue
      }
      switch character {
      case "'", "\"":
        quote = character
        word = word ?? ""
      case "\\":
        guard let next = rest.next() else { return nil }
        word = (word ?? "") + String(next)
      case _ where character.isWhitespace:
        if let word { words.append(word) }
        word = nil
      case _ where operators.contains(character) && !(character == "&" && last == ">"):
        if character == last, word == nil {
          words[words.count - 1].append(character)
          continue
        }
        if let word { words.append(word) }
        word = nil
        words.append(String(character))
      default:
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil { return nil }
    if let word { words.append(word) }
    return words
  }

  /// Returns a line from which a shell makes these words, for people to read and to paste.
  ///
  /// Words that need no quotes have none. Control characters and bytes that are not UTF-8 are written
  /// as `$'\n'`, which bash and zsh understand.
  package static func quoted(_ words: [[UInt8]]) -> String {
    words.map(quoted).joined(separator: " ")
  }

  /// Returns one word as ``quoted(_:)-([[UInt8]])`` shows it.
  package static func quoted(_ word: [UInt8]) -> String {
    guard let text = String(validating: word, as: UTF8.self),
      word.printable == text
    else { return "$'" + word.map(escaped).joined() + "'" }
    if !word.isEmpty && word.allSatisfy(isPlain) || unquoted.contains(text) { return text }
    if !word.contains(UInt8(ascii: "'")) { return "'\(text)'" }
    let special = Array(#"$`"\!"#.utf8)
    if !word.contains(where: special.contains) { return "\"\(text)\"" }
    return text.singleQuoted
  }

  /// Words with braces that shells take as they are.
  private static let unquoted = ["{}", "{first}"]

  /// Whether a shell takes the byte as it is, wherever it is in a word.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
      true
    default:
      "%+,-./:=@_".utf8.contains(byte)
    }
  }

  private static func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\n"): "\\n"
    case UInt8(ascii: "\t"): "\\t"
    case UInt8(ascii: "\r"): "\\r"
    case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
    case 0x20..<0x7F: String(UnicodeScalar(byte))
    default: "\\x" + String(byte, digits: 2)
    }
  }
}

extension String {
  /// The text in single quotes, as shells read it, whatever is in it.
  package var singleQuoted: String {
    "'" + map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
  }
}
