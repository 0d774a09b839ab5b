import TestSupport

/// A generator of random values, each in a random JSON5 spelling.
struct JSONSpelling {
  private var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// An array of one value, and its text.
  mutating func document() -> (value: Plain, text: String) {
    let (value, text) = value(depth: 0)
    return (.array([value]), space() + "[" + space() + text + space() + "]" + space())
  }

  /// The text with a few bytes changed, inserted or removed.
  mutating func mutated(_ text: [UInt8]) -> [UInt8] { random.mutated(json: text) }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[number(0...(elements.count - 1))]
  }

  private mutating func space() -> String {
    pick(["", "", "", " ", "\n", "\t", "\r\n", "\u{B}", "// é,\n", "/* ' \" } */", "/***/"])
  }

  private mutating func value(depth: Int) -> (Plain, String) {
    switch number(0...(depth < 4 ? 9 : 5)) {
    case 0: return pick([(.null, "null"), (.boolean(true), "true"), (.boolean(false), "false")])
    case 1...2: return numeral()
    case 3...5:
      let content = content()
      return (.string(content), spelled(content))
    case 6...7:
      var (elements, text): ([Plain], String) = ([], "[")
      for _ in 0..<number(0...3) {
        let (element, written) = value(depth: depth + 1)
        if !elements.isEmpty { text += "," }
        elements.append(element)
        text += space() + written + space()
      }
      return (.array(elements), text + trailingComma(elements.isEmpty) + "]")
    default:
      return object(depth: depth)
    }
  }

  private mutating func object(depth: Int) -> (Plain, String) {
    var members: [[UInt8]: Plain] = [:]
    var keys: Set<String> = []
    var text = "{"
    for _ in 0..<number(0...3) {
      let isName = number(0...1) == 0
      let key = isName ? pick(["a", "$", "_x1", "é", "日本", "null", "a\u{200D}", "𝒳"]) : content()
      guard keys.insert(key).inserted else { continue }
      let (value, written) = value(depth: depth + 1)
      if !members.isEmpty { text += "," }
      members[Array(key.utf8)] = value
      text += space() + (isName ? key : spelled(key)) + space() + ":" + space() + written + space()
    }
    return (.members(members), text + trailingComma(members.isEmpty) + "}")
  }

  private mutating func trailingComma(_ isEmpty: Bool) -> String {
    isEmpty || number(0...2) > 0 ? space() : "," + space()
  }

  private mutating func numeral() -> (Plain, String) {
    let (sign, isNegative) = pick([("", false), ("", false), ("+", false), ("-", true)])
    let digits = String(random.next() >> number(0...63))
    let (magnitude, text): (Double?, String)
    switch number(0...6) {
    case 0: (magnitude, text) = (.infinity, "Infinity")
    case 1: (magnitude, text) = (.nan, "NaN")
    case 2:
      let bits = random.next() >> number(11...63)
      (magnitude, text) = (
        Double(bits), pick(["0x", "0X"]) + String(bits, radix: 16, uppercase: number(0...1) == 0)
      )
    case 3: (magnitude, text) = (Double(digits), digits + pick(["", "."]))
    case 4: (magnitude, text) = (Double("0." + digits), pick(["", "0"]) + "." + digits)
    default:
      let exponent = pick(["e", "E"]) + pick(["", "+", "-"]) + String(number(0...250))
      (magnitude, text) = (Double(digits + exponent), digits + pick(["", "."]) + exponent)
    }
    let value = magnitude ?? 0
    return (.number(isNegative ? -value : value), sign + text)
  }

  private mutating func content() -> String {
    let pieces = [
      "a", "Z", "0", " ", "'", "\"", "\\", "/", "//", "\n", "\t", "\r", "\u{8}", "\u{C}", "\u{1}",
      "\u{7F}", "é",
      "e\u{301}", "ß", "日", "😀", "\u{2028}", "\u{FEFF}", "\u{FFFF}", "u", "x", "n",
    ]
    return (0..<number(0...6)).map { _ in pick(pieces) }.joined()
  }

  private mutating func spelled(_ content: String) -> String {
    let quote: Unicode.Scalar = pick(["'", "\""])
    let body = content.unicodeScalars.map { spelled($0, in: quote) }.joined()
    return "\(quote)\(body)\(quote)"
  }

  private mutating func spelled(_ scalar: Unicode.Scalar, in quote: Unicode.Scalar) -> String {
    let names: [Unicode.Scalar: String] = [
      "\n": "n", "\t": "t", "\r": "r", "\u{8}": "b", "\u{C}": "f", "\\": "\\", "/": "/", "'": "'",
      "\"": "\"",
    ]
    var spellings = [scalar.utf16.map { #"\u"# + hex(UInt32($0), 4) }.joined()]
    if let name = names[scalar] { spellings.append("\\" + name) }
    if scalar.value < 0x100 { spellings.append(#"\x"# + hex(scalar.value, 2)) }
    if scalar.value >= 0x20, scalar != quote, scalar != "\\" {
      spellings += Array(repeating: String(scalar), count: 4)
    }
    return pick(spellings)
  }

  private mutating func hex(_ value: UInt32, _ width: Int) -> String {
    let digits = String(value, radix: 16, uppercase: number(0...1) == 0)
    return String(repeating: "0", count: width - digits.count) + digits
  }
}
