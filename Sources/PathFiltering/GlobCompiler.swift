import Support

/// Compiles the text of a pattern into steps.
struct GlobCompiler {
  /// The pattern, without `!` and without a leading or trailing slash.
  private let body: [UInt8]
  /// Whether the pattern matches a path, so that slashes and `**` are special, and not just a name.
  private let crossesDirectories: Bool
  private let ignoringCase: Bool

  private var index = 0
  private var steps: [GlobStep] = []

  init(_ body: [UInt8], crossesDirectories: Bool, ignoringCase: Bool) {
    self.body = body
    self.crossesDirectories = crossesDirectories
    self.ignoringCase = ignoringCase
  }

  /// Compiles the pattern.
  mutating func compile() throws(GlobPattern.Defect) -> [GlobStep] {
    while index < body.count {
      switch body[index] {
      case UInt8(ascii: "*"):
        readStars()
      case UInt8(ascii: "?"):
        steps.append(.anyByte)
        index += 1
      case UInt8(ascii: "["):
        steps.append(.oneOf(try readBracket()))
      case UInt8(ascii: "\\"):
        guard index + 1 < body.count else { throw .trailingBackslash }
        if body[index + 1] == UInt8(ascii: "/") {
          try appendSeparator()
        } else {
          // As in git, an escaped letter keeps its case even if case is ignored: an uppercase
          // letter then matches nothing.
          steps.append(.byte(body[index + 1]))
        }
        index += 2
      case UInt8(ascii: "/"):
        try appendSeparator()
        index += 1
      case let byte:
        steps.append(.byte(ignoringCase ? byte.lowercasedASCII : byte))
        index += 1
      }
    }
    if isAtComponentStart { throw .emptyName }
    return steps
  }

  /// Whether the next byte is the first of a name.
  private var isAtComponentStart: Bool {
    switch steps.last {
    case nil, .separator, .directories: true
    default: false
    }
  }

  /// Appends a separator. No path has an empty name, so none can match a slash at the start of a
  /// name.
  private mutating func appendSeparator() throws(GlobPattern.Defect) {
    if isAtComponentStart { throw .emptyName }
    steps.append(.separator)
  }

  private mutating func readStars() {
    let begin = index
    while index < body.count, body[index] == UInt8(ascii: "*") { index += 1 }
    let isWholeComponent = crossesDirectories && index - begin >= 2 && isAtComponentStart
    let rest = body[index...]
    if isWholeComponent, rest.isEmpty {
      steps.append(.everything)
    } else if isWholeComponent, rest.first == UInt8(ascii: "/") {
      steps.append(.directories)
      index += 1
    } else if isWholeComponent, rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "/")]) {
      // In git, `**` matches no directory at all only if its slash is not escaped.
      steps += [.star, .separator, .directories]
      index += 2
    } else {
      steps.append(.star)
    }
  }
}

// MARK: - Brackets

extension GlobCompiler {
  /// Reads the bracket expression at `index`, and advances `index` past it.
  ///
  /// A `]` in the first position is a member. A slash never is.
  private mutating func readBracket() throws(GlobPattern.Defect) -> ByteSet {
    var members = ByteSet()
    index += 1
    let isComplement = index < body.count && "!^".utf8.contains(body[index])
    if isComplement { index += 1 }

    // The first byte of a range, if a hyphen follows.
    var rangeStart: UInt8?
    repeat {
      let byte = try bracketByte(at: index)
      if byte == UInt8(ascii: "-"), let first = rangeStart,
        try bracketByte(at: index + 1) != UInt8(ascii: "]")
      {
        index += 1
        if body[index] == UInt8(ascii: "\\") { index += 1 }
        insertRange(from: first, to: try bracketByte(at: index), into: &members)
        rangeStart = nil
      } else if byte == UInt8(ascii: "["), let name = try readClassName() {
        guard let named = ByteSet.named(name, ignoringCase: ignoringCase) else {
          throw .unknownClass
        }
        members.formUnion(named)
        rangeStart = nil
      } else {
        if byte == UInt8(ascii: "\\") { index += 1 }
        let member = try bracketByte(at: index)
        members.insert(member)
        rangeStart = member
      }
      index += 1
    } while try bracketByte(at: index) != UInt8(ascii: "]")
    index += 1
    return ByteSet { $0 != UInt8(ascii: "/") && members.contains($0) != isComplement }
  }

  private func bracketByte(at index: Int) throws(GlobPattern.Defect) -> UInt8 {
    guard index < body.count else { throw .unclosedBracket }
    return body[index]
  }

  /// Reads the name in `[:name:]` at `index`, and leaves `index` at its `]`. Returns `nil` if the
  /// `[` is a member.
  private mutating func readClassName() throws(GlobPattern.Defect) -> ArraySlice<UInt8>? {
    let begin = index + 2
    guard begin <= body.count, body[index + 1] == UInt8(ascii: ":") else { return nil }
    guard let end = body[begin...].firstIndex(of: UInt8(ascii: "]")) else { throw .unclosedBracket }
    guard end > begin, body[end - 1] == UInt8(ascii: ":") else { return nil }
    index = end
    return body[begin..<(end - 1)]
  }

  /// Inserts a range. If case is ignored, paths are lowercased before matching. As in git, a range
  /// of uppercase letters then matches letters, but a single uppercase letter does not.
  private func insertRange(from first: UInt8, to last: UInt8, into members: inout ByteSet) {
    guard first <= last else { return }
    for byte in first...last {
      members.insert(byte)
      if ignoringCase { members.insert(byte.lowercasedASCII) }
    }
  }
}

extension ByteSet {
  /// The members of a POSIX class, all ASCII; `nil` if there is no class of that name.
  fileprivate static func named(_ name: ArraySlice<UInt8>, ignoringCase: Bool) -> ByteSet? {
    let isLower = { (byte: UInt8) in byte.isLetterASCII && byte.lowercasedASCII == byte }
    return switch name.decoded {
    case "alnum": ByteSet { $0.isLetterASCII || $0.isDigitASCII }
    case "alpha": ByteSet(where: \.isLetterASCII)
    case "blank": ByteSet { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    case "cntrl": ByteSet { $0 < 0x20 || $0 == 0x7F }
    case "digit": ByteSet(where: \.isDigitASCII)
    case "graph": ByteSet { (0x21...0x7E).contains($0) }
    case "lower": ByteSet(where: isLower)
    case "print": ByteSet { (0x20...0x7E).contains($0) }
    case "punct": ByteSet { (0x21...0x7E).contains($0) && !$0.isLetterASCII && !$0.isDigitASCII }
    // As in git, without vertical tab and form feed.
    case "space": ByteSet { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    case "upper": ByteSet { $0.isLetterASCII && (ignoringCase || !isLower($0)) }
    case "xdigit": ByteSet { $0.hexadecimalValue != nil }
    default: nil
    }
  }
}
