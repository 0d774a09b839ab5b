/// Splits a command line into words as a shell does, without running one.
enum ShellWords {
  /// Returns the words of `text`, separated by white space. `'…'`, `"…"` and backslashes are
  /// supported, and no other shell syntax. `nil` if a quotation or an escape is incomplete.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text.makeIterator()
    while let character = rest.next() {
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
      default:
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil { return nil }
    if let word { words.append(word) }
    return words
  }
}
