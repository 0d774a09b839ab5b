import Support
import SystemCalls

/// Reads one value: the text of an option, or the JSON of a key.
///
/// The functions return `nil` for an invalid value and note the problem. An option has one place, a key
/// may have several problems, each at its own.
struct ValueReader {
  /// A problem and the byte of the project file at which it occurs; 0 for an option.
  struct Finding: Error, Hashable {
    var offset: Int
    var message: String
  }

  /// A path that a key names, which need not exist.
  struct NamedPath {
    var path: Path
    var key: String
    var offset: Int
  }

  /// The text of an option.
  let text: [UInt8]
  /// The value of a key; `nil` for an option.
  let json: JSONValue?
  let key: String
  private let kind: ValueKind
  private(set) var findings: [Finding] = []
  private(set) var paths: [NamedPath] = []

  init(_ text: [UInt8]) {
    (self.text, json, key, kind) = (text, nil, "", .string)
  }

  init(_ json: JSONValue, of key: String, _ kind: ValueKind) {
    (text, self.json, self.key, self.kind) = ([], json, key, kind)
  }

  /// The text of an option as it is shown.
  var written: String { text.printable }

  mutating func note(_ message: String, at offset: Int? = nil) {
    findings.append(Finding(offset: offset ?? json?.offset ?? 0, message: message))
  }

  mutating func notePath(_ path: [UInt8], at offset: Int) {
    if json != nil { paths.append(NamedPath(path: Path(bytes: path), key: key, offset: offset)) }
  }

  /// Notes that a key has a value of another kind than the expected one.
  mutating func mismatch(_ part: JSONValue? = nil) {
    guard let value = part ?? json else { return }
    let found: String
    switch value.content {
    case .number(let number):
      found = number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
    case .string(let string): found = "\"\(string.printable)\""
    case .boolean(let boolean): found = "\(boolean)"
    case .null, .array, .object: found = value.kindName
    }
    note("'\(key)' must be \(kind.expectation), not \(found)", at: value.offset)
  }
}

// MARK: - Strings

extension ValueReader {
  /// Whether a string of JSON can be an argument or a path.
  static func isUsable(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains(0)
  }

  /// Text that is not empty.
  ///
  /// - Parameter lack: The message about an option whose text is empty.
  mutating func bytes(_ lack: String) -> [UInt8]? {
    if case .string(let text)? = json?.content, Self.isUsable(text) { return Array(text.utf8) }
    if json == nil, !text.isEmpty { return text }
    if json == nil { note(lack) } else { mismatch() }
    return nil
  }

  mutating func path(isNamed: Bool = false) -> Path? {
    guard let bytes = bytes("the path is empty") else { return nil }
    if isNamed, let json { notePath(bytes, at: json.offset) }
    return Path(bytes: bytes)
  }

  /// A value that is written alike in both. In JSON, it is a string.
  ///
  /// - Parameters:
  ///   - problem: The message about an option.
  ///   - problemOfKey: The message about a key whose string is wrong, unless it is that of a mismatch.
  mutating func parsed<Value>(
    _ parse: (String) -> Value?, _ problem: (String) -> String,
    problemOfKey: ((String) -> String)? = nil
  ) -> Value? {
    guard let json else {
      if let value = parse(text.decoded) { return value }
      note(problem(text.decoded))
      return nil
    }
    if case .string(let text) = json.content {
      if let value = parse(text) { return value }
      if let problemOfKey {
        note(problemOfKey(text))
        return nil
      }
    }
    mismatch()
    return nil
  }

  /// The elements of a list with their positions: one for an option, or for a single string of JSON.
  mutating func elements() -> [(text: [UInt8], offset: Int)]? {
    guard let json else { return [(text, 0)] }
    let elements: [JSONValue]
    switch json.content {
    case .array(let array): elements = array
    case .string: elements = [json]
    default:
      mismatch()
      return nil
    }
    return elements.compactMap { element in
      if case .string(let text) = element.content, Self.isUsable(text) {
        return (Array(text.utf8), element.offset)
      }
      mismatch(element)
      return nil
    }
  }

  mutating func members() -> [JSONValue.Member]? {
    guard case .object(let members)? = json?.content else {
      mismatch()
      return nil
    }
    return members
  }

  /// Notes keys that occur repeatedly.
  mutating func noteRepeated(_ members: [JSONValue.Member]) {
    var known: Set<String> = []
    for member in members where !known.insert(member.key).inserted { noteTwice(member) }
  }

  mutating func noteTwice(_ member: JSONValue.Member) {
    note("'\(member.key.printable)' occurs twice; remove one", at: member.keyOffset)
  }
}
