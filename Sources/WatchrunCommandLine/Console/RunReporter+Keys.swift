import ActionRunning
import FileObservation
import SystemCalls

extension RunReporter {
  private static let maximumListedChanges = 20

  /// Lists the keys.
  func listKeys() {
    for line in Key.listing { console.say(.answer, line) }
  }

  func reportPause(_ isPaused: Bool) {
    console.say(.answer, isPaused ? "paused: changes start nothing until you press p" : "resumed")
  }

  /// Reports why a run was started, and the changes that it received.
  ///
  /// - Parameters:
  ///   - task: The name of its task, if there is more than one.
  ///   - dependencies: The tasks that it depends on directly.
  func explain(_ run: RunReport.Run?, of task: String? = nil, after dependencies: [String] = []) {
    guard let run else { return console.say(.answer, "nothing has run yet") }
    let changes = run.trigger.changes
    let owner = task.map { " of \($0)" } ?? ""
    let cause = cause(of: run.trigger, after: dependencies)
    console.say(.answer, "run \(run.number)\(owner) started \(cause)\(changes.isEmpty ? "" : ":")")
    for change in changes.prefix(Self.maximumListedChanges) {
      let from = change.from.map { " from \(shown($0))" } ?? ""
      console.say(.answer, "  \(change.kind.rawValue) \(shown(change.path))\(from)")
    }
    let more = changes.count - Self.maximumListedChanges
    if more > 0 { console.say(.answer, "  and \(more) more") }
  }

  private func cause(of trigger: RunTrigger, after dependencies: [String]) -> String {
    let count = trigger.changes.count
    let changes = count == 1 ? "1 change" : "\(count) changes"
    switch trigger.reason {
    case .start: return "when watchrun did"
    case .key: return "by a key" + (count > 0 ? ", with \(changes)" : "")
    case .overflow: return "because the kernel dropped events" + (count > 0 ? ", after" : "")
    case .restart: return "again because the command had ended"
    case .change where count > 0: return "because of \(changes)"
    case .change where dependencies.isEmpty: return "because its dependencies succeeded"
    case .change: return "because \(dependencies.joined(separator: " and ")) succeeded"
    }
  }
}
