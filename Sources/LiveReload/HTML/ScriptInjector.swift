/// A streaming rewriter that inserts a tag into an HTML document.
///
/// The tag is inserted before the first `</body` end tag, or at the end of a document without one.
/// Text in a comment, a script, an attribute or a template that looks like an end tag is skipped.
/// The other bytes pass through unchanged and immediately, except for at most six that may begin
/// `</body`. The output does not depend on how the document is split into parts.
///
/// UTF-16 documents with a byte order mark pass through unchanged. A document that is UTF-16 only
/// by its `Content-Type` must not be passed here.
struct ScriptInjector {
  /// Whether the tag has been inserted.
  private(set) var hasInjected = false

  private let tag: [UInt8]
  private var state = State.start
  /// The end of the input if it may begin `</body` or a byte order mark.
  private var held: [UInt8] = []
  /// The name of the current tag in lowercase; 0 for one of more than 15 bytes.
  private var name = ByteWindow()
  private var isEndTag = false
  /// The last bytes of a comment or a raw text, in lowercase.
  private var window = ByteWindow()
  /// The length of the comment so far, at most 2.
  private var commentLength = 0
  /// The raw text element that is open.
  private var rawElement = ByteWindow()
  private var rawEndTag = ByteWindow()
  private var scriptNesting = ScriptNesting.plain
  /// The number of open `template` elements. A script in one does not run.
  private var templateDepth = 0

  /// Creates a rewriter. `tag` is inserted verbatim.
  init(tag: [UInt8]) {
    self.tag = tag
  }

  /// Processes the next part of the document, and returns the next part of the output.
  mutating func process(_ part: some Collection<UInt8>) -> [UInt8] {
    let part = Array(part)
    if state == .done { return part }
    var output: [UInt8] = []
    output.reserveCapacity(part.count + held.count + tag.count)
    var index = 0
    while index < part.count {
      if state == .data {
        // In text, which most of a document is, only `<` matters.
        let end = part[index...].firstIndex(of: .lessThan) ?? part.count
        output += part[index..<end]
        index = end
        if index == part.count { break }
      }
      let byte = part[index]
      index += 1
      let completesEndTag = advance(byte)
      if completesEndTag {
        output += tag
        hasInjected = true
        state = .done
      }
      let isHeld = isHolding
      if !held.isEmpty, state == .tagOpen || !isHeld {
        output += held
        held.removeAll(keepingCapacity: true)
      }
      if isHeld { held.append(byte) } else { output.append(byte) }
      if state == .done {
        output += part[index...]
        break
      }
    }
    return output
  }

  /// Returns the rest of the output: the held back bytes, and the tag unless it has been inserted.
  ///
  /// The tag is inserted before an incomplete end tag, which would swallow it otherwise.
  mutating func finish() -> [UInt8] {
    defer { held = [] }
    if state == .done { return held }
    state = .done
    hasInjected = true
    return tag + held
  }
}

// MARK: - Tokens

extension ScriptInjector {
  private enum State {
    case start, byteOrderMark
    case data, tagOpen, endTagOpen, tagName
    case beforeAttribute, attributeName, afterAttributeName
    case beforeValue, doubleQuoted, singleQuoted, unquoted
    case markupDeclaration, markupDash, comment, bogusComment
    case rawText, plainText
    /// Everything passes: the tag has been, or cannot be, inserted.
    case done
  }

  /// The escape state of a `script` element.
  private enum ScriptNesting { case plain, comment, scriptInComment }

  /// Whether the last bytes may begin `</body`.
  private var isHolding: Bool {
    switch state {
    case .byteOrderMark, .tagOpen, .endTagOpen: true
    case .tagName: isEndTag && name.isPrefix(of: .body)
    default: false
    }
  }

  /// Processes a byte. Returns whether it completes a `</body` before which the tag is inserted.
  private mutating func advance(_ byte: UInt8) -> Bool {
    switch state {
    case .start:
      state = .data
      if byte == 0xFE || byte == 0xFF {
        state = .byteOrderMark
      } else {
        return advance(byte)
      }
    case .byteOrderMark:
      if held == [0xFE] && byte == 0xFF || held == [0xFF] && byte == 0xFE {
        state = .done
      } else {
        state = .data
        return advance(byte)
      }
    case .data: if byte == .lessThan { state = .tagOpen }
    case .tagOpen, .endTagOpen: open(byte)
    case .tagName: return extendName(byte)
    case .markupDeclaration, .markupDash, .comment, .bogusComment: comment(byte)
    case .rawText: rawText(byte)
    case .plainText, .done: break
    default: attribute(byte)
    }
    return false
  }

  /// After `<` or `</`.
  private mutating func open(_ byte: UInt8) {
    let isEnd = state == .endTagOpen
    switch byte {
    case UInt8(ascii: "/") where !isEnd:
      state = .endTagOpen
    case _ where byte.isLetterASCII:
      isEndTag = isEnd
      name = ByteWindow()
      name.append(byte.lowercasedASCII)
      state = .tagName
    case UInt8(ascii: "!") where !isEnd:
      state = .markupDeclaration
    case UInt8(ascii: "?") where !isEnd:
      state = .bogusComment
    case _ where isEnd:
      state = byte == .greaterThan ? .data : .bogusComment
    default:
      state = byte == .lessThan ? .tagOpen : .data
    }
  }

  private mutating func extendName(_ byte: UInt8) -> Bool {
    guard byte.endsTagName else {
      name.append(byte.lowercasedASCII)
      return false
    }
    if isEndTag && name == .body && templateDepth == 0 { return true }
    state = .beforeAttribute
    attribute(byte)
    return false
  }

  private mutating func attribute(_ byte: UInt8) {
    switch state {
    case .doubleQuoted:
      if byte == UInt8(ascii: "\"") { state = .beforeAttribute }
    case .singleQuoted:
      if byte == UInt8(ascii: "'") { state = .beforeAttribute }
    case _ where byte == .greaterThan:
      closeTag()
    case .unquoted:
      if byte.isMarkupSpace { state = .beforeAttribute }
    case .beforeValue:
      switch byte {
      case UInt8(ascii: "\""): state = .doubleQuoted
      case UInt8(ascii: "'"): state = .singleQuoted
      default: if !byte.isMarkupSpace { state = .unquoted }
      }
    case _ where byte == UInt8(ascii: "/"):
      state = .beforeAttribute
    case .attributeName, .afterAttributeName:
      if byte == UInt8(ascii: "=") {
        state = .beforeValue
      } else {
        state = byte.isMarkupSpace ? .afterAttributeName : .attributeName
      }
    default:
      if !byte.isMarkupSpace { state = .attributeName }
    }
  }

  private mutating func closeTag() {
    state = .data
    if name == .template {
      templateDepth = max(0, templateDepth + (isEndTag ? -1 : 1))
    }
    if isEndTag { return }
    if name == .plainText {
      state = .plainText
    } else if ByteWindow.rawElements.contains(name) {
      state = .rawText
      rawElement = name
      rawEndTag = .endTag(name)
      window = ByteWindow()
      scriptNesting = .plain
    }
  }

  private mutating func comment(_ byte: UInt8) {
    switch state {
    case .comment:
      window.append(byte)
      let isShort =
        commentLength == 0 && byte == .greaterThan
        || commentLength == 1 && window.hasSuffix(.dashGreater)
      if isShort || window.hasSuffix(.commentEnd) || window.hasSuffix(.commentEndBang) {
        state = .data
      }
      commentLength = min(commentLength + 1, 2)
    case _ where byte == .greaterThan:
      state = .data
    case .markupDeclaration:
      state = byte == UInt8(ascii: "-") ? .markupDash : .bogusComment
    case .markupDash where byte == UInt8(ascii: "-"):
      state = .comment
      window = ByteWindow()
      commentLength = 0
    default:
      state = .bogusComment
    }
  }

  /// Processes a byte in a raw text element, in which only its own end tag is markup.
  private mutating func rawText(_ byte: UInt8) {
    if byte.endsTagName {
      if scriptNesting == .scriptInComment {
        if window.hasSuffix(rawEndTag) { scriptNesting = .comment }
      } else if window.hasSuffix(rawEndTag) {
        name = rawElement
        isEndTag = true
        state = .beforeAttribute
        return attribute(byte)
      } else if scriptNesting == .comment, window.hasSuffix(.startTag(.script)) {
        scriptNesting = .scriptInComment
      }
    }
    window.append(byte.lowercasedASCII)
    guard byte == .greaterThan || byte == UInt8(ascii: "-"), rawElement == .script else { return }
    if window.hasSuffix(.commentEnd) {
      scriptNesting = .plain
    } else if scriptNesting == .plain, window.hasSuffix(.commentStart) {
      scriptNesting = .comment
    }
  }
}

extension UInt8 {
  fileprivate static let lessThan = UInt8(ascii: "<")
  fileprivate static let greaterThan = UInt8(ascii: ">")

  /// Whether the byte is white space in a tag.
  fileprivate var isMarkupSpace: Bool {
    self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D || self == 0x0C
  }

  /// Whether the byte ends the name of a tag.
  fileprivate var endsTagName: Bool {
    isMarkupSpace || self == UInt8(ascii: "/") || self == .greaterThan
  }
}
