import FileObservation
import SystemCalls

/// A task that ignores what changes during its run, until all of that was reported.
struct IgnoringTask {
  let definition: TaskDefinition
  /// When the processes of the latest run had ended; `nil` while they run.
  let end: FileTime?

  /// Whether the task watches what has changed, and ignores the change.
  func ignores(_ change: ChangeBatch.Change) -> Bool {
    definition.triggers.isTriggered(by: change)
      && !(end.map { Self.isLater(change, than: $0) } ?? false)
  }

  /// Whether an entry has changed after this time, by its timestamp or, if it is gone, that of its directory.
  /// A timestamp in the future is that of another machine's clock, and tells nothing.
  private static func isLater(_ change: ChangeBatch.Change, than end: FileTime) -> Bool {
    var path = change.path
    while true {
      if let status = try? FileStatus(of: path) {
        return status.changed > end && status.changed <= .latest()
      }
      if path.directory == path { return false }
      path = path.directory
    }
  }
}
