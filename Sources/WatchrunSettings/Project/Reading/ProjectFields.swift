import Support
import SystemCalls

/// A known key with its value.
struct ProjectField {
  let name: String
  let setting: Setting
  let keyOffset: Int
  let value: JSONValue
}

extension [ProjectField] {
  subscript(name: String) -> ProjectField? { first { $0.name == name } }
}

extension ProjectReader {
  /// The known keys of an object, the first of a repeated key; `nil` if the value is not an object.
  mutating func fields(
    of value: JSONValue, _ scope: ProjectKey.Scope, named title: String
  ) -> [ProjectField]? {
    guard case .object(let members) = value.content else {
      note("\(title) must be an object, as in { … }, not \(value.kindName)", at: value.offset)
      return nil
    }
    noteRepeated(members)
    var fields: [ProjectField] = []
    for member in members {
      if let setting = Setting.key(member.key, in: scope) {
        guard fields[member.key] == nil else { continue }
        fields.append(
          ProjectField(
            name: member.key, setting: setting, keyOffset: member.keyOffset, value: member.value))
      } else {
        note(unknownKey(member.key, in: scope, of: title), at: member.keyOffset)
      }
    }
    return fields
  }

  mutating func noteRepeated(_ members: [JSONValue.Member]) {
    var reader = ValueReader([])
    reader.noteRepeated(members)
    findings += reader.findings
  }

  private func unknownKey(
    _ name: String, in scope: ProjectKey.Scope, of title: String
  ) -> String {
    let names = ProjectKey.names(in: scope)
    if let home = Self.otherHome(of: name, than: scope) {
      return "'\(name)' is a key \(home), not of \(title); "
        + "those are \(names.joined(separator: ", "))"
    }
    if let nearest = Self.nearestKey(to: name, among: names) {
      return "\(title) has no key '\(name.printable)'; did you mean '\(nearest)'?"
    }
    return "\(title) has no key '\(name.printable)'; those are \(names.joined(separator: ", "))"
  }

  /// Whether an unknown key is probably a misspelling of this one; reporting that is enough.
  func isMisspelt(_ key: String, in value: JSONValue, _ scope: ProjectKey.Scope) -> Bool {
    let names = ProjectKey.names(in: scope)
    return value.members.contains { member in
      !names.contains(member.key) && Self.nearestKey(to: member.key, among: names) == key
    }
  }

  /// The key that was probably meant: another name for it, or the nearest spelling.
  private static func nearestKey(to name: String, among names: [String]) -> String? {
    let plain = name.lowercased().filter { $0 != "_" && $0 != "-" }
    if let known = names.first(where: { $0.lowercased() == plain }) { return known }
    let keys = ProjectKey.all.filter { names.contains($0.name) }
    func key(knownAs other: String) -> String? { keys.first { $0.others.contains(other) }?.name }
    return key(knownAs: plain) ?? nearestName(to: name, among: names)
      ?? nearestName(to: plain, among: keys.flatMap(\.others).sorted()).flatMap(key)
  }

  private static func otherHome(of name: String, than scope: ProjectKey.Scope) -> String? {
    let key = ProjectKey.all.first { $0.name == name && !$0.scopes.contains(scope) }
    switch key?.scopes.first {
    case .project: return "of the whole file"
    case .task: return "of tasks"
    case .page: return "of pages"
    case .readiness: return "of ready"
    case nil: return nil
    }
  }
}
