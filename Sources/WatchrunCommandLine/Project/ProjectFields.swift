import SystemCalls

/// What stands behind a key that is known.
struct ProjectField {
  let key: ProjectKey
  let keyOffset: Int
  let value: LocatedValue
}

/// A table's known keys, by their names.
struct ProjectFields {
  private let fields: [String: ProjectField]

  init(_ fields: [ProjectField]) {
    self.fields = Dictionary(fields.map { ($0.key.name, $0) }) { first, _ in first }
  }

  subscript(name: String) -> ProjectField? { fields[name] }
}

extension ProjectReader {
  /// The known keys of a table. Nil if it is none.
  mutating func fields(
    of value: LocatedValue, _ table: ProjectKey.Table, named title: String
  ) -> ProjectFields? {
    guard case .table = value.value else {
      note("\(title) is to be a table, as in { … }, not \(value.value.kindName)", at: value.offset)
      return nil
    }
    noteRepeated(value.members)
    var fields: [ProjectField] = []
    for member in value.members {
      if let key = ProjectKey.named(member.key, in: table) {
        fields.append(ProjectField(key: key, keyOffset: member.keyOffset, value: member.value))
      } else {
        note(unknownKey(member.key, in: table, of: title), at: member.keyOffset)
      }
    }
    return ProjectFields(fields)
  }

  mutating func noteRepeated(_ members: [LocatedValue.Member]) {
    var known: Set<String> = []
    for member in members where !known.insert(member.key).inserted {
      note("'\(Path(member.key))' stands here twice; leave out one", at: member.keyOffset)
    }
  }

  private func unknownKey(
    _ name: String, in table: ProjectKey.Table, of title: String
  ) -> String {
    if table == .task, name == "port" {
      return "'port' is a key of pages; for a service write ready: { port: … }"
    }
    let names = ProjectKey.names(in: table)
    if let home = Self.otherHome(of: name, than: table) {
      return "'\(name)' is a key \(home), not of \(title); "
        + "those are \(names.joined(separator: ", "))"
    }
    if let nearest = Self.nearestKey(to: name, among: names) {
      return "\(title) has no key '\(Path(name))'; did you mean '\(nearest)'?"
    }
    return "\(title) has no key '\(Path(name))'; those are \(names.joined(separator: ", "))"
  }

  /// True if a key that is not known was probably to be this one; then that is enough to be told.
  func isMeant(_ key: String, in value: LocatedValue, _ table: ProjectKey.Table) -> Bool {
    let names = ProjectKey.names(in: table)
    return value.members.contains { member in
      !names.contains(member.key) && Self.nearestKey(to: member.key, among: names) == key
    }
  }

  /// The key that was probably meant: what others call it, or what is written nearly like that.
  private static func nearestKey(to name: String, among names: [String]) -> String? {
    let plain = name.lowercased().filter { $0 != "_" && $0 != "-" }
    if let known = names.first(where: { $0.lowercased() == plain }) { return known }
    let others = ProjectKey.otherNames.filter { names.contains($0.value) }
    return others[plain] ?? nearest(to: name, among: names)
      ?? nearest(to: plain, among: others.keys.sorted()).flatMap { others[$0] }
  }

  private static func otherHome(of name: String, than table: ProjectKey.Table) -> String? {
    let key = ProjectKey.all.first { $0.name == name && !$0.tables.contains(table) }
    switch key?.tables.first {
    case .project: return "of the whole file"
    case .task: return "of tasks"
    case .page: return "of pages"
    case .readiness: return "of ready"
    case nil: return nil
    }
  }
}
