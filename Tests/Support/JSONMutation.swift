extension SeededGenerator {
  /// A JSON5 text with a few bytes changed, inserted or removed.
  package mutating func mutated(json text: [UInt8]) -> [UInt8] {
    var text = text
    let pieces = [
      "{", "}", "[", "]", ",", ":", "'", "\"", "\\", "/", "*", "//", "\n", "+", "-", ".", "0", "9",
      "e", "x",
      "u", "a", " ", "é", "\u{0}", "null", "Infinity", "\u{2028}", "\u{A0}", "\u{FEFF}",
    ].map { Array($0.utf8) }
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    for _ in 0..<number(1...3) {
      let place = number(0...text.count)
      let end = min(text.count, place + number(0...2))
      switch number(0...5) {
      case 0: text.removeSubrange(place..<end)
      case 1: text.insert(UInt8(number(0...255)), at: place)
      case 2: text.replaceSubrange(place..<end, with: text[number(0...place)...].prefix(8))
      case 3: text.removeSubrange(place...)
      default: text.insert(contentsOf: pieces[number(0...pieces.count - 1)], at: place)
      }
    }
    return text
  }
}
