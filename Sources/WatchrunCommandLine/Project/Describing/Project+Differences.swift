extension Project {
  /// The differences, in one line.
  func changes(since old: Project) -> String {
    let (now, before) = (entries, old.entries)
    let common = now.filter { before[$0.key] != nil && before[$0.key] != $0.value }
    let parts = [
      ("new", names.filter { before[$0] == nil }),
      ("changed", names.filter { common[$0] != nil }),
      ("removed", old.names.filter { now[$0] == nil }),
      ("for all tasks", changedKeys(since: old)),
    ]
    let shown = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
    return shown.isEmpty ? "in another order" : shown.joined(separator: "; ")
  }

  /// The changed keys of the file's top level.
  private func changedKeys(since old: Project) -> [String] {
    let keys = ProjectKey.names(in: .project).filter { defaults[$0] != old.defaults[$0] }.sorted()
    return (jobs == old.jobs ? [] : ["jobs"]) + (ignores == old.ignores ? [] : ["ignore"])
      + keys.map { $0 == "color" ? "color (at the next start)" : $0 }
  }

  /// Tasks and pages by name.
  private var entries: [String: AnyHashable] {
    let all = tasks.map { ($0.name, AnyHashable($0)) } + pages.map { ($0.name, AnyHashable($0)) }
    return Dictionary(all) { first, _ in first }
  }
}
