/// Splits a line of a script into words.
///
/// Words are separated by blanks. Within double quotes a blank is part of the word. `\n`, `\t`,
/// `\\`, `\"`, `\#`, `\ ` and `\xHH` are escapes for one byte. A word that begins with `#` begins a
/// comment.
struct ScriptWords {
  struct Failure: Error, Hashable {
    let reason: String
  }

  static func split(_ line: some StringProtocol) throws(Failure) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var word: [UInt8]?
    var isQuoted = false
    var rest = Array(line.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        word = word ?? []
        isQuoted.toggle()
      case UInt8(ascii: "\\"):
        word = try (word ?? []) + [escaped(&rest)]
      case UInt8(ascii: " ") where !isQuoted, UInt8(ascii: "\t") where !isQuoted:
        if let word { words.append(word) }
        word = nil
      case UInt8(ascii: "#") where word == nil:
        return words
      default:
        word = (word ?? []) + [byte]
      }
    }
    if isQuoted { throw Failure(reason: "a quote is not closed") }
    if let word { words.append(word) }
    return words
  }

  private static func escaped(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> UInt8 {
    switch rest.popFirst() {
    case UInt8(ascii: "n"): return UInt8(ascii: "\n")
    case UInt8(ascii: "t"): return UInt8(ascii: "\t")
    case UInt8(ascii: "x"):
      let digits = rest.prefix(2)
      rest = rest.dropFirst(2)
      guard digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { throw Failure(reason: "\\x wants two hexadecimal digits") }
      return byte
    case let byte? where "\\\"# ".utf8.contains(byte): return byte
    case let byte?:
      throw Failure(reason: "there is no escape \\\(Character(UnicodeScalar(byte)))")
    case nil: throw Failure(reason: "nothing follows the backslash")
    }
  }
}
