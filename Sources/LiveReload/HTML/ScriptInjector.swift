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

  /// Whether the tag has been inserted.
  private(set) var hasInjected = false

  private let tag: [UInt8]
  private let scope: Scope
  private let isXML: Bool
  private var encoding: TextEncoding
  private var state = State.start
  /// The bytes before which the tag may have to be inserted.
  private var held: [UInt8] = []
  /// The bytes of an incomplete character.
  private var character: [UInt8] = []
  /// The name of the current tag in lowercase, without a prefix.
  private var name: [UInt8] = []
  private var hasRoot = false
  private var isWhole = false
  private var lastByte: UInt8 = 0
  /// The number of dashes before the present byte of a comment, including those that begin it.
  private var dashes = 0
  private var isCommentStart = false
  /// The depth of brackets in the doctype of an XML document, and its open quote.
  private var brackets = 0
  private var quote: UInt8?

  /// Creates a rewriter.
  ///
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
    var output: [UInt8] = []
    var rest = Array(part)[...]
    while state != .done, let byte = rest.popFirst() { process(byte, &output) }
    if output.isEmpty { return Array(rest) }
    return output + rest
  }

  private mutating func process(_ byte: UInt8, _ output: inout [UInt8]) {
    held.append(byte)
    if state == .start {
      if let mark = TextEncoding(byteOrderMark: held) {
        encoding = mark
        state = .between
        return pass(&output)
      }
      if TextEncoding.mayBeginByteOrderMark(held) { return }
      state = .between
      let bytes = held
      held = []
      for byte in bytes { process(byte, &output) }
      return
    }
    if state == .done { return pass(&output) }
    character.append(byte)
    guard let unit = encoding.unit(character) else { return }
    character = []
    switch advance(unit) {
    case .hold: break
    case .pass: pass(&output)
    case .insertBefore: insert(before: true, &output)
    case .insertAfter: insert(before: false, &output)
    }
    lastByte = unit
  }

  private mutating func pass(_ output: inout [UInt8]) {
    output += held
    held.removeAll(keepingCapacity: true)
  }

  private mutating func insert(before: Bool, _ output: inout [UInt8]) {
    state = .done
    if !before { pass(&output) }
    if scope == .anyDocument || isWhole {
      output += encoding.encode(tag)
      hasInjected = true
    }
    pass(&output)
  }

  /// Returns the rest of the output: the bytes held back, and the tag unless it has been inserted
  /// or would be a part of an incomplete comment or tag.
  mutating func finish() -> [UInt8] {
    var output: [UInt8] = []
    switch state {
    case .start where !isXML, .between where !isXML, .open where !isXML, .name where !isXML:
      insert(before: true, &output)
    default:
      state = .done
      pass(&output)
    }
    return output
  }
}

// MARK: - Tokens

extension ScriptInjector {
  private enum State {
    case start
    /// Between tokens.
    case between
    case open, name
    case beforeAttribute, attributeName, afterAttributeName
    case beforeValue, doubleQuoted, singleQuoted, unquoted
    case declaration, declarationDash, comment, doctype, instruction
    /// Everything passes: the tag has been, or cannot be, inserted.
    case done
  }

  private enum Step {
    case hold
    case pass
    case insertBefore
    case insertAfter
  }

  private mutating func advance(_ byte: UInt8) -> Step {
    switch state {
    case .start, .done: return .pass
    case .between:
      if byte.isMarkupSpace { return .pass }
      guard byte == UInt8(ascii: "<") else { return .insertBefore }
      state = .open
      return .hold
    case .open: return open(byte)
    case .name:
      guard byte.endsTagName else {
        // A prefix is no part of the name.
        if byte == UInt8(ascii: ":") && isXML {
          name = []
        } else {
          name.append(byte.lowercasedASCII)
        }
        return .hold
      }
      state = .beforeAttribute
      return isExpected ? attribute(byte) : .insertBefore
    case .declaration, .declarationDash, .comment, .doctype, .instruction:
      declaration(byte)
      return .pass
    default: return attribute(byte)
    }
  }

  /// After `<`.
  private mutating func open(_ byte: UInt8) -> Step {
    switch byte {
    case UInt8(ascii: "!"): state = .declaration
    case UInt8(ascii: "?"): state = .instruction
    case _ where byte.isLetterASCII || isXML && byte >= 0x80:
      state = .name
      name = [byte.lowercasedASCII]
      return .hold
    default: return .insertBefore
    }
    return .pass
  }

  private var isHead: Bool { name.elementsEqual("head".utf8) }

  /// Whether the tag is inserted after the current start tag. The root of an XML document has to
  /// contain it, whatever its name is.
  private var isExpected: Bool {
    if isHead { return hasRoot || !isXML }
    return !hasRoot && (isXML || name.elementsEqual("html".utf8))
  }

  /// In a start tag.
  private mutating func attribute(_ byte: UInt8) -> Step {
    switch state {
    case .doubleQuoted:
      if byte == UInt8(ascii: "\"") { state = .beforeAttribute }
    case .singleQuoted:
      if byte == UInt8(ascii: "'") { state = .beforeAttribute }
    case _ where byte == UInt8(ascii: ">"):
      return closeTag()
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
    return .hold
  }

  private mutating func closeTag() -> Step {
    isWhole = true
    let isEmpty = isXML && lastByte == UInt8(ascii: "/")
    if isHead { return isEmpty ? .insertBefore : .insertAfter }
    hasRoot = true
    // The root has no content, into which the tag could be inserted.
    state = isEmpty ? .done : .between
    return .pass
  }

  /// After `<!` or `<?`.
  private mutating func declaration(_ byte: UInt8) {
    let isEnd = byte == UInt8(ascii: ">")
    switch state {
    case .declaration where byte == UInt8(ascii: "-"):
      state = .declarationDash
    case .declarationDash where byte == UInt8(ascii: "-"):
      (state, dashes, isCommentStart) = (.comment, 2, true)
    case .comment:
      comment(byte)
    case .instruction:
      if isEnd && (!isXML || lastByte == UInt8(ascii: "?")) { state = .between }
    case .doctype where isXML:
      subset(byte)
    default:
      if state == .declaration && byte.lowercasedASCII == UInt8(ascii: "d") { isWhole = true }
      state = isEnd ? .between : .doctype
    }
  }

  private mutating func comment(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "-"):
      dashes = max(dashes, 0) + 1
      return
    case UInt8(ascii: ">") where dashes >= 2 || dashes == Self.bang:
      state = .between
    case UInt8(ascii: "!") where !isXML && dashes >= (isCommentStart ? 4 : 2):
      dashes = Self.bang
      return
    default: break
    }
    (dashes, isCommentStart) = (0, false)
  }

  /// The number of dashes after `--!`, which ends a comment together with `>`.
  private static let bang = -1

  /// In the doctype of an XML document, which may contain declarations in brackets.
  private mutating func subset(_ byte: UInt8) {
    if let open = quote {
      if byte == open { quote = nil }
      return
    }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
    case UInt8(ascii: "["): brackets += 1
    case UInt8(ascii: "]"): brackets -= 1
    case UInt8(ascii: ">") where brackets <= 0: state = .between
    default: break
    }
  }
}

extension UInt8 {
  /// Whether the byte is white space in a tag.
  fileprivate var isMarkupSpace: Bool {
    self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D || self == 0x0C
  }

  /// Whether the byte ends the name of a tag.
  fileprivate var endsTagName: Bool {
    isMarkupSpace || self == UInt8(ascii: "/") || self == UInt8(ascii: ">")
  }
}
