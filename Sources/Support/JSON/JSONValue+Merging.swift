// Merging, as RFC 7396 defines it.

extension JSONValue {
  /// The value with all positions moved, so that they differ from those in another text.
  package func moved(by distance: Int) -> JSONValue {
    let content: Content
    switch self.content {
    case .array(let elements): content = .array(elements.map { $0.moved(by: distance) })
    case .object(let members):
      content = .object(
        members.map { member in
          Member(
            key: member.key, keyOffset: member.keyOffset + distance,
            value: member.value.moved(by: distance))
        })
    case .null, .boolean, .number, .string: content = self.content
    }
    return JSONValue(content, at: offset + distance)
  }

  /// The value with the changes of another one: members of objects are added or replaced one by one, or removed by
  /// `null`; any other value replaces this one.
  package func merged(with other: JSONValue) -> JSONValue {
    guard case .object(var members) = content, case .object(let changes) = other.content else {
      return other
    }
    for (number, change) in changes.enumerated() {
      let index = members.lastIndex { $0.key == change.key }
      if changes[..<number].contains(where: { $0.key == change.key }) {
        // A repeated key stays one, for the reader to find.
        members.append(change)
      } else if change.value.content == .null {
        members.removeAll { $0.key == change.key }
      } else if let index {
        let merged = members[index].value.merged(with: change.value)
        let isPart =
          if case .object = merged.content { merged.offset == members[index].value.offset } else {
            false
          }
        members[index] = Member(
          key: change.key, keyOffset: isPart ? members[index].keyOffset : change.keyOffset,
          value: merged)
      } else {
        members.append(change)
      }
    }
    return JSONValue(.object(members), at: offset)
  }

  /// The positions of its keys, those of inner values first, and its own.
  package var offsets: [Int] { keyOffsets + [offset] }

  private var keyOffsets: [Int] { members.flatMap { $0.value.keyOffsets + [$0.keyOffset] } }

  /// The value without the part at this position; `nil` if that is all of it.
  package func removing(partAt offset: Int) -> JSONValue? {
    if offset == self.offset { return nil }
    guard case .object(let members) = content else { return self }
    return JSONValue(
      .object(
        members.compactMap { member in
          if member.keyOffset == offset { return nil }
          return member.value.removing(partAt: offset).map {
            Member(key: member.key, keyOffset: member.keyOffset, value: $0)
          }
        }), at: self.offset)
  }
}
