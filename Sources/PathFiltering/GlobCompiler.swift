/// Turns the text of a pattern into the steps of a match.
struct GlobCompiler {
  /// The pattern, without its sign and without the slashes that only anchor it or restrict it.
  private let body: [UInt8]
  /// True if slashes and `**` have their meaning; false for a pattern that looks at a name only.
  private let crossesFolders: Bool
  private let ignoringCase: Bool

  private var index = 0
  private var steps: [GlobStep] = []

  init(_ body: [UInt8], crossesFolders: Bool, ignoringCase: Bool) {
    self.body = body
    self.crossesFolders = crossesFolders
    self.ignoringCase = ignoringCase
  }

  /// The steps, or what is wrong with the pattern.
  mutating func compile() throws(GlobPattern.Defect) -> [GlobStep] {
    while index < body.count {
      switch body[index] {
      case Byte.star:
        readStars()
      case Byte.question:
        steps.append(.anyByte)
        index += 1
      case Byte.openBracket:
        steps.append(.oneOf(try readBracket()))
      case Byte.backslash:
        guard index + 1 < body.count else { throw .trailingBackslash }
        if body[index + 1] == Byte.slash {
          try appendSeparator()
        } else {
          // As in git, an escaped letter keeps its case, also where case is ignored: a capital
          // then matches nothing.
          steps.append(.byte(body[index + 1]))
        }
        index += 2
      case Byte.slash:
        try appendSeparator()
        index += 1
      case let byte:
        steps.append(.byte(ignoringCase ? byte.lowercased : byte))
        index += 1
      }
    }
    if isAtComponentStart { throw .emptyName }
    return steps
  }

  /// True before the first byte of a name, and at the end of a path that lacks its last name.
  private var isAtComponentStart: Bool {
    switch steps.last {
    case nil, .separator, .folders: true
    default: false
    }
  }

  /// No path has an empty name, so a slash that stands at the start of one can never be met.
  private mutating func appendSeparator() throws(GlobPattern.Defect) {
    if isAtComponentStart { throw .emptyName }
    steps.append(.separator)
  }

  private mutating func readStars() {
    let begin = index
    while index < body.count, body[index] == Byte.star { index += 1 }
    let isWholeComponent = crossesFolders && index - begin >= 2 && isAtComponentStart
    let rest = body[index...]
    if isWholeComponent, rest.isEmpty {
      steps.append(.everything)
    } else if isWholeComponent, rest.first == Byte.slash {
      steps.append(.folders)
      index += 1
    } else if isWholeComponent, rest.starts(with: [Byte.backslash, Byte.slash]) {
      // Git lets `**` stand for no folder at all only if its slash is not escaped.
      steps += [.star, .separator, .folders]
      index += 2
    } else {
      steps.append(.star)
    }
  }
}

// MARK: - Brackets

extension GlobCompiler {
  /// Reads the bracket expression that begins at `index`, and leaves `index` behind it.
  ///
  /// A `]` in the first place is a member. A slash is never one.
  private mutating func readBracket() throws(GlobPattern.Defect) -> ByteSet {
    var members = ByteSet()
    index += 1
    let isComplement = index < body.count && [Byte.exclamation, Byte.caret].contains(body[index])
    if isComplement { index += 1 }

    // The byte with which a range would begin if a hyphen followed now.
    var rangeStart: UInt8?
    repeat {
      let byte = try bracketByte(at: index)
      if byte == Byte.hyphen, let first = rangeStart, try bracketByte(at: index + 1) != closing {
        index += 1
        if body[index] == Byte.backslash { index += 1 }
        insertRange(from: first, to: try bracketByte(at: index), into: &members)
        rangeStart = nil
      } else if byte == Byte.openBracket, let name = try readClassName() {
        guard let named = ByteSet.named(name, ignoringCase: ignoringCase) else {
          throw .unknownClass
        }
        members.formUnion(named)
        rangeStart = nil
      } else {
        if byte == Byte.backslash { index += 1 }
        let member = try bracketByte(at: index)
        members.insert(member)
        rangeStart = member
      }
      index += 1
    } while try bracketByte(at: index) != closing
    index += 1
    return ByteSet { $0 != Byte.slash && members.contains($0) != isComplement }
  }

  private var closing: UInt8 { Byte.closeBracket }

  private func bracketByte(at index: Int) throws(GlobPattern.Defect) -> UInt8 {
    guard index < body.count else { throw .unclosedBracket }
    return body[index]
  }

  /// The name in `[:name:]`, where one begins at `index`; `index` is then left at its `]`. Nil where
  /// the `[` is just a member.
  private mutating func readClassName() throws(GlobPattern.Defect) -> ArraySlice<UInt8>? {
    let begin = index + 2
    guard begin <= body.count, body[index + 1] == Byte.colon else { return nil }
    guard let end = body[begin...].firstIndex(of: closing) else { throw .unclosedBracket }
    guard end > begin, body[end - 1] == Byte.colon else { return nil }
    index = end
    return body[begin..<(end - 1)]
  }

  /// Where case is ignored, small letters stand for both: a path is lowered before it is compared.
  /// As in git, that makes a range of capitals match letters, but not a single capital.
  private func insertRange(from first: UInt8, to last: UInt8, into members: inout ByteSet) {
    guard first <= last else { return }
    for byte in first...last {
      members.insert(byte)
      if ignoringCase { members.insert(byte.lowercased) }
    }
  }
}

extension ByteSet {
  /// The members of a POSIX class, which are ASCII; nil for a name that is none.
  fileprivate static func named(_ name: ArraySlice<UInt8>, ignoringCase: Bool) -> ByteSet? {
    let lower = UInt8(ascii: "a")...UInt8(ascii: "z")
    let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let digit = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isAlphanumeric = { (byte: UInt8) in
      lower.contains(byte.lowercased) || digit.contains(byte)
    }
    return switch String(decoding: name, as: UTF8.self) {
    case "alnum": ByteSet(where: isAlphanumeric)
    case "alpha": ByteSet { lower.contains($0.lowercased) }
    case "blank": ByteSet { $0 == Byte.space || $0 == Byte.tab }
    case "cntrl": ByteSet { $0 < 0x20 || $0 == 0x7F }
    case "digit": ByteSet(where: digit.contains)
    case "graph": ByteSet { (0x21...0x7E).contains($0) }
    case "lower": ByteSet(where: lower.contains)
    case "print": ByteSet { (0x20...0x7E).contains($0) }
    case "punct": ByteSet { (0x21...0x7E).contains($0) && !isAlphanumeric($0) }
    // Git's own idea of space, which leaves out vertical tab and form feed.
    case "space": ByteSet { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    case "upper": ByteSet { upper.contains($0) || (ignoringCase && lower.contains($0)) }
    case "xdigit": ByteSet { digit.contains($0) || (0x61...0x66).contains($0.lowercased) }
    default: nil
    }
  }
}
