import ActionRunning
import FileObservation
import SystemCalls

extension Narration {
  private static let longestList = 20

  /// Says which keys there are.
  func tellKeys() {
    for line in Key.listing { console.say(.answer, line) }
  }

  /// Says that changes start nothing for now, or that they do again.
  func tellPause(_ isPaused: Bool) {
    console.say(.answer, isPaused ? "paused: changes start nothing until p is pressed" : "going on")
  }

  /// Says why a run was started, and what it was told.
  func explain(_ run: RunReport.Run?, of task: String? = nil) {
    guard let run else { return console.say(.answer, "nothing has been run yet") }
    let changes = run.trigger.changes
    let owner = task.map { " of \($0)" } ?? ""
    console.say(.answer, "run \(run.number)\(owner) was started \(occasion(of: run.trigger))")
    for change in changes.prefix(Self.longestList) {
      let from = change.from.map { " from \(shown($0))" } ?? ""
      console.say(.answer, "  \(change.kind.rawValue) \(shown(change.path))\(from)")
    }
    let more = changes.count - Self.longestList
    if more > 0 { console.say(.answer, "  and \(more) more") }
  }

  private func occasion(of trigger: RunTrigger) -> String {
    let count = trigger.changes.count
    let changes = count == 1 ? "1 change" : "\(count) changes"
    switch trigger.reason {
    case .start: return "at the beginning"
    case .key: return "by a key" + (count > 0 ? ", after \(changes):" : "")
    case .overflow: return "by more changes than the kernel could tell" + (count > 0 ? ":" : "")
    case .restart: return "again, since it had ended"
    case .change: return count > 0 ? "by \(changes):" : "since what it stands after had succeeded"
    }
  }
}
