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
    let (now, before) = (defaults, old.defaults)
    let keys = [
      ("jobs", jobs == old.jobs), ("ignore", ignores == old.ignores),
      ("debounce", now.quietPeriod == before.quietPeriod), ("poll", now.polling == before.polling),
      ("skipUnchanged", now.skipsUnchanged == before.skipsUnchanged),
      ("shell", now.shell == before.shell), ("clear", now.clearsScreen == before.clearsScreen),
      ("color (at the next start)", now.colorMode == before.colorMode),
      ("notify", now.notifyMode == before.notifyMode),
      ("output", now.outputMode == before.outputMode),
      ("diagnostics", now.diagnosticsFile == before.diagnosticsFile),
    ]
    return keys.filter { !$0.1 }.map(\.0)
  }

  /// Tasks and pages by name.
  private var entries: [String: AnyHashable] {
    let all = tasks.map { ($0.name, AnyHashable($0)) } + pages.map { ($0.name, AnyHashable($0)) }
    return Dictionary(all) { first, _ in first }
  }
}
