import ActionRunning
import Support
import SystemCalls

extension ValueType<TestMap> {
  /// Paths by regular expressions, in the order of the file.
  static var testMap: Self {
    Self(.testMap) { reader in
      guard let members = reader.members() else { return nil }
      if members.isEmpty { reader.mismatch() }
      reader.noteRepeated(members)
      return TestMap(
        members.compactMap { member in
          guard let pattern = reader.pattern(member) else { return nil }
          let targets = reader.targets(of: member, pattern)
          return targets.isEmpty ? nil : TestMap.Entry(pattern, targets: targets)
        })
    }
  }
}

extension ValueReader {
  fileprivate mutating func pattern(_ member: JSONValue.Member) -> RegularExpression? {
    let shown = "the pattern '\(member.key.printable)'"
    guard Self.isUsable(member.key) else {
      note("a pattern is empty; write that of a path", at: member.keyOffset)
      return nil
    }
    if let escape = Self.unknownEscape(in: member.key) {
      note(
        "\(shown) has '\(escape)', which POSIX does not define; write a class, as in [0-9]",
        at: member.keyOffset)
      return nil
    }
    do throws(RegularExpression.Flaw) {
      return try RegularExpression(member.key.word)
    } catch {
      note(
        "\(shown) is not a POSIX extended regular expression: \(error.reason)", at: member.keyOffset
      )
      return nil
    }
  }

  /// A backslash before a letter or digit, which C libraries take for the letter or read in ways of their own.
  private static func unknownEscape(in pattern: String) -> String? {
    var rest = pattern.word[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else { continue }
      if next.isLetterASCII || next.isDigitASCII { return [byte, next].printable }
    }
    return nil
  }

  fileprivate mutating func targets(
    of member: JSONValue.Member, _ pattern: RegularExpression
  ) -> [[UInt8]] {
    member.value.oneOrMore.compactMap { element in
      guard case .string(let text) = element.content, Self.isUsable(text) else {
        mismatch(element)
        return nil
      }
      let target = text.word
      if let group = TestMap.groups(in: target).first(where: { $0 > pattern.groupCount }) {
        let count = pattern.groupCount == 0 ? "none" : "\(pattern.groupCount)"
        note(
          "'$\(group)' stands for group \(group), and the pattern "
            + "'\(member.key.printable)' has \(count)"
            + (pattern.groupCount == 0 ? "; put a part of it in parentheses" : ""),
          at: element.offset)
      }
      return target
    }
  }
}
