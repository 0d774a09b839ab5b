/// A streaming rewriter that inserts a tag into an HTML document.
///
/// The tag is inserted after the doctype and the start tags of `html` and `head`, as far as the
/// document has them: before anything that could change the meaning of the tag, such as a `base`.
/// Only the bytes of an incomplete start tag at the beginning are held back. The output does not
/// depend on how the document is split into parts.
struct ScriptInjector {
  /// The documents into which the tag is inserted.
  enum Scope: Sendable {
    case anyDocument
    /// Documents that begin with a doctype, an `html` or a `head` element. Others may be parts of
    /// a page that has the tag.
    case wholeDocuments
  }

  /// A longer tag or comment ends the search, since it is read again with each part.
  private static let longestToken = 1024 * 1024

  private let tag: [UInt8]
  private let scope: Scope
  private let isXML: Bool
  private var encoding: TextEncoding
  /// The bytes from the beginning of the present token on, and how many of them have been returned.
  private var rest: [UInt8] = []
  private var returnedCount = 0
  /// How many bytes there were when the token was found incomplete the last time.
  private var seenCount = 0
  private var isAtStart = true
  /// Whether everything passes: the tag has been, or cannot be, inserted.
  private var isDone = false
  private var hasRoot = false
  private var isWhole = false

  /// - Parameters:
  ///   - tag: The tag in ASCII.
  ///   - encoding: The encoding of the document unless it has a byte order mark.
  init(
    tag: [UInt8], isXML: Bool = false, encoding: TextEncoding = .asciiCompatible,
    scope: Scope = .anyDocument
  ) {
    self.tag = tag
    self.isXML = isXML
    self.encoding = encoding
    self.scope = scope
  }

  /// Processes the next part of the document, and returns the next part of the output.
  mutating func process(_ part: some Collection<UInt8>) -> [UInt8] {
    if isDone { return Array(part) }
    rest += part
    // All tokens but white space end with this: one that comes byte by byte is not read again for each.
    let mayEnd = part.contains(UInt8(ascii: ">")) || rest.count >= 2 * seenCount
    return seenCount < 4096 || mayEnd ? advance(isLast: false) : []
  }

  /// Returns the rest of the output: the bytes held back, and the tag unless it has been inserted
  /// or would be a part of an incomplete comment or tag.
  mutating func finish() -> [UInt8] { isDone ? [] : advance(isLast: true) }

  private mutating func advance(isLast: Bool) -> [UInt8] {
    var output: [UInt8] = []
    if isAtStart {
      if let (mark, marked) = TextEncoding.marks.first(where: { rest.starts(with: $0.bytes) }) {
        encoding = marked
        output = mark
        rest.removeFirst(mark.count)
      } else if !isLast, TextEncoding.marks.contains(where: { $0.bytes.starts(with: rest) }) {
        return []
      }
      isAtStart = false
    }
    let text = encoding.ascii(rest)
    var position = 0
    while true {
      switch token(text[position...]) {
      case .passed(let end): position = end
      case .place(let place): return output + end(insertingAt: place)
      case .none: return output + end(insertingAt: nil)
      case .incomplete(let isHeld, let mayFollow):
        if isLast { return output + end(insertingAt: mayFollow && !isXML ? position : nil) }
        let start = position * encoding.width
        if rest.count - start > Self.longestToken { return output + end(insertingAt: nil) }
        let shown = isHeld ? start : rest.count
        output += rest[returnedCount..<shown]
        rest.removeFirst(start)
        returnedCount = shown - start
        seenCount = rest.count
        return output
      }
    }
  }

  /// Returns all that is left, with the tag at a place in the text unless the document may be a part.
  private mutating func end(insertingAt place: Int?) -> [UInt8] {
    isDone = true
    defer { rest = [] }
    guard let place, scope == .anyDocument || isWhole else { return Array(rest[returnedCount...]) }
    let cut = place * encoding.width
    return rest[returnedCount..<cut] + encoding.encode(tag) + rest[cut...]
  }
}

// MARK: - Tokens

extension ScriptInjector {
  private enum Token {
    /// The tag may follow what ends here.
    case passed(end: Int)
    /// The place of the tag.
    case place(Int)
    /// The tag has no place.
    case none
    /// More bytes are needed. At the end of the document, the tag may be before what there is.
    case incomplete(isHeld: Bool, mayFollow: Bool)
  }

  /// The first token of a text: white space, a declaration, or a start tag.
  private mutating func token(_ text: ArraySlice<UInt8>) -> Token {
    let start = text.startIndex
    guard let first = text.first else { return .incomplete(isHeld: true, mayFollow: true) }
    if first.isMarkupSpace {
      return .passed(end: text.firstIndex { !$0.isMarkupSpace } ?? text.endIndex)
    }
    guard first == UInt8(ascii: "<") else { return .place(start) }
    guard text.count > 1 else { return .incomplete(isHeld: true, mayFollow: true) }
    switch text[start + 1] {
    case UInt8(ascii: "!"), UInt8(ascii: "?"):
      return endOfDeclaration(text).map { .passed(end: $0 + 1) }
        ?? .incomplete(isHeld: false, mayFollow: false)
    case let byte where byte.isLetterASCII || isXML && byte >= 0x80: return startTag(text)
    default: return .place(start)
    }
  }

  private mutating func startTag(_ text: ArraySlice<UInt8>) -> Token {
    let start = text.startIndex
    guard let nameEnd = text.firstIndex(where: \.endsTagName) else {
      return .incomplete(isHeld: true, mayFollow: true)
    }
    // A prefix is no part of the name.
    let colon = isXML ? text[..<nameEnd].lastIndex(of: UInt8(ascii: ":")) : nil
    let name = text[(colon ?? start)..<nameEnd].dropFirst()
    // The root of an XML document has to contain the tag, whatever its name is.
    let isHead = name.equalsIgnoringCase("head")
    let isExpected =
      isHead ? hasRoot || !isXML : !hasRoot && (isXML || name.equalsIgnoringCase("html"))
    if !isExpected { return .place(start) }
    guard let end = endOfStartTag(text[nameEnd...]) else {
      return .incomplete(isHeld: true, mayFollow: false)
    }
    isWhole = true
    let isEmpty = isXML && text[end - 1] == UInt8(ascii: "/")
    if isHead { return .place(isEmpty ? start : end + 1) }
    hasRoot = true
    // The root has no content, into which the tag could be inserted.
    return isEmpty ? .none : .passed(end: end + 1)
  }

  /// The end of a start tag after its name.
  private func endOfStartTag(_ text: ArraySlice<UInt8>) -> Int? {
    enum State { case space, name, value, unquoted, quoted(UInt8) }
    var state = State.space
    for index in text.indices {
      let byte = text[index]
      switch state {
      case .quoted(let quote): if byte == quote { state = .space }
      case _ where byte == UInt8(ascii: ">"): return index
      case .unquoted: if byte.isMarkupSpace { state = .space }
      case .value where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'"):
        state = .quoted(byte)
      case .value: if !byte.isMarkupSpace { state = .unquoted }
      case _ where byte == UInt8(ascii: "/"): state = .space
      case .name where byte == UInt8(ascii: "="): state = .value
      // White space may follow a name before its equals sign.
      case .space, .name: if !byte.isMarkupSpace { state = .name }
      }
    }
    return nil
  }

  /// The end of a comment, a doctype or an instruction.
  private mutating func endOfDeclaration(_ text: ArraySlice<UInt8>) -> Int? {
    let content = text.dropFirst(2)
    let isInstruction = text[text.startIndex + 1] == UInt8(ascii: "?")
    let isComment = !isInstruction && content.starts(with: "--".utf8)
    if !isInstruction, content.first?.lowercasedASCII == UInt8(ascii: "d") { isWhole = true }
    var quote: UInt8?
    var brackets = 0
    for index in content.indices {
      let byte = content[index]
      let isEnd = byte == UInt8(ascii: ">")
      if isComment {
        // `<!-->` is complete, and so is `<!----!>`, but not `<!--!>`.
        let before = content[..<index]
        if isEnd, index >= content.startIndex + 2, before.suffix(2).elementsEqual("--".utf8) {
          return index
        }
        if isEnd, !isXML, before.dropFirst(2).suffix(3).elementsEqual("--!".utf8) { return index }
      } else if !isXML {
        if isEnd { return index }
      } else if isInstruction {
        if isEnd && text[index - 1] == UInt8(ascii: "?") { return index }
      } else if let open = quote {
        if byte == open { quote = nil }
      } else {
        // The doctype of an XML document may contain declarations in brackets.
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
        case UInt8(ascii: "["): brackets += 1
        case UInt8(ascii: "]"): brackets -= 1
        default: if isEnd && brackets <= 0 { return index }
        }
      }
    }
    return nil
  }
}

extension UInt8 {
  /// Whether the byte ends the name of a tag.
  fileprivate var endsTagName: Bool {
    isMarkupSpace || self == UInt8(ascii: "/") || self == UInt8(ascii: ">")
  }
}
