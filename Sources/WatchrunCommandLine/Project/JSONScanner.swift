import SystemCalls

/// Walks over a JSON5 text once, and notes where things stand.
struct JSONScanner {
  typealias Place = JSONPlaces.Place
  typealias Fault = JSONPlaces.Fault

  private static let deepest = 64

  let text: [UInt8]
  var offset = 0
  private var depth = 0

  init(_ text: [UInt8]) {
    self.text = text
    offset = Self.start(of: text)
  }

  /// Where a text begins: behind the byte order mark, if there is one.
  static func start(of text: [UInt8]) -> Int {
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
  }

  mutating func scan() throws(Fault) -> Place {
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
      throw Fault(offset: 0, message: "is written in UTF-16; save it as UTF-8")
    }
    try skipSpace()
    if next == nil { throw Fault(offset: 0, message: "is empty; write { tasks: { … } }") }
    let place = try scanValue()
    try skipSpace()
    if next != nil {
      throw fault("\(shownNext) stands behind the end of it; is there a bracket too many?")
    }
    return place
  }

  var next: UInt8? { offset < text.count ? text[offset] : nil }

  func fault(_ message: String, at place: Int? = nil) -> Fault {
    Fault(offset: place ?? offset, message: message)
  }

  /// The character that comes next, for people.
  var shownNext: String {
    nextScalar.map { "'\(Path(String($0)))'" } ?? "the end of the file"
  }

  private var nextScalar: Unicode.Scalar? {
    String(decoding: text[offset...].prefix(8), as: UTF8.self).unicodeScalars.first
  }
}

// MARK: - Values

extension JSONScanner {
  private mutating func scanValue() throws(Fault) -> Place {
    let start = offset
    switch next {
    case UInt8(ascii: "{"): return try scanTable()
    case UInt8(ascii: "["): return try scanList()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try scanString()
    case let byte? where Self.startsNumber(byte): try scanNumber()
    case let byte? where Self.isNameByte(byte): try scanWord()
    default: throw fault("expected a value, not \(shownNext)")
    }
    return Place(range: start..<offset)
  }

  private mutating func scanTable() throws(Fault) -> Place {
    let start = offset
    var members: [JSONPlaces.Member] = []
    try enter()
    while next != UInt8(ascii: "}") {
      let keyOffset = offset
      let key = try scanKey()
      try skipSpace()
      if next != UInt8(ascii: ":") {
        throw fault("expected ':' behind the key '\(Path(key))', not \(shownNext)")
      }
      offset += 1
      try skipSpace()
      members.append(.init(key: key, keyOffset: keyOffset, value: try scanValue()))
      try goOn(in: start, until: "}")
    }
    leave()
    return Place(range: start..<offset, members: members)
  }

  private mutating func scanList() throws(Fault) -> Place {
    let start = offset
    var elements: [Place] = []
    try enter()
    while next != UInt8(ascii: "]") {
      elements.append(try scanValue())
      try goOn(in: start, until: "]")
    }
    leave()
    return Place(range: start..<offset, elements: elements)
  }

  private mutating func enter() throws(Fault) {
    depth += 1
    if depth > Self.deepest {
      throw fault("more than \(Self.deepest) brackets stand in one another")
    }
    offset += 1
    try skipSpace()
  }

  private mutating func leave() {
    depth -= 1
    offset += 1
  }

  /// Over the comma between two things; none is needed behind the last.
  private mutating func goOn(in start: Int, until closing: Character) throws(Fault) {
    try skipSpace()
    if next == nil {
      let opening = TextPosition(start, in: text)
      throw fault("a '\(closing)' is missing: what begins at \(opening) has no end")
    }
    if next == closing.asciiValue { return }
    if next != UInt8(ascii: ",") {
      throw fault("expected ',' or '\(closing)', not \(shownNext)")
    }
    offset += 1
    try skipSpace()
  }
}

// MARK: - Between values

extension JSONScanner {
  /// Over spaces, ends of lines and comments.
  mutating func skipSpace() throws(Fault) {
    while let byte = next {
      switch byte {
      case 0x09...0x0D, 0x20: offset += 1
      case UInt8(ascii: "/"): try skipComment()
      case 0x80...: return try refuseOddSpace()
      default: return
      }
    }
  }

  /// A space that keyboards and web pages put in unasked, and that the decoder does not take for one.
  private func refuseOddSpace() throws(Fault) {
    guard let next = nextScalar, next.properties.isWhitespace else { return }
    let hex = String(next.value, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: max(0, 4 - hex.count)) + hex
    throw fault("this is no plain space, but U+\(code); write a plain one")
  }

  private mutating func skipComment() throws(Fault) {
    let start = offset
    offset += 1
    switch next {
    case UInt8(ascii: "/"):
      while let byte = next, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { offset += 1 }
    case UInt8(ascii: "*"):
      let end = Array("*/".utf8)
      offset += 1
      while next != nil, !text[offset...].starts(with: end) { offset += 1 }
      if next == nil { throw fault("this comment has no end; write */ behind it", at: start) }
      offset += end.count
    default:
      throw fault("expected a comment, as in // or /* */", at: start)
    }
  }
}
