import FileObservation
import Support
import SystemCalls

/// A task that ignores what changes during its run, until all of that was reported.
struct IgnoringTask {
  let definition: TaskDefinition
  /// When the latest process of its run ended; `nil` while it runs.
  let end: FileTime?

  /// Whether the task watches what has changed, and ignores the change.
  func ignores(_ change: ChangeBatch.Change) -> Bool {
    definition.triggers.isWatched(change)
      && !(end.map { Self.isLater(change, than: $0) } ?? false)
  }

  /// Whether an entry has changed after this time, by its timestamp or, if it is gone, that of its directory.
  /// A timestamp in the future is that of another machine's clock, and tells nothing.
  private static func isLater(_ change: ChangeBatch.Change, than end: FileTime) -> Bool {
    guard let status = change.path.lineage.firstResult({ try? FileStatus(of: $0) }) else {
      return false
    }
    return status.changed > end && status.changed <= .latest()
  }
}
