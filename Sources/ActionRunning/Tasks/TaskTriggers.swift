import FileObservation
import PathFiltering

/// Which changes start a task.
public struct TaskTriggers: Sendable, Hashable {
  /// The files and folders whose changes count, by absolute paths.
  public var watched: [WatchedPath]
  /// The task's own patterns. Ignore files are not its affair, but the observer's.
  public var filter: PathFilter
  /// The kinds of change that count.
  public var kinds: Set<ChangeBatch.Kind>

  /// Triggers; by default all kinds but `metadata`. Where nothing is watched, no change is one.
  public init(
    watched: [WatchedPath] = [], filter: PathFilter = PathFilter(),
    kinds: Set<ChangeBatch.Kind> = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
  ) {
    self.watched = watched
    self.filter = filter
    self.kinds = kinds
  }

  /// True if the change starts the task. A renaming counts for either of its two paths.
  public func isTriggered(by change: ChangeBatch.Change) -> Bool {
    guard kinds.contains(change.kind) else { return false }
    return watched.contains { root in
      passes(change.path, change, below: root)
        || change.from.map { passes($0, change, below: root) } ?? false
    }
  }

  private func passes(
    _ path: Path, _ change: ChangeBatch.Change, below root: WatchedPath
  ) -> Bool {
    guard root.covers(path) else { return false }
    let isDirectory = change.type == .directory
    // Files that go with their folder are not told of one by one.
    let takesContents = isDirectory && (change.kind == .renamed || change.kind == .removed)
    return filter.passesPatterns(
      path, isDirectory: isDirectory, below: root.path, coversDescendants: takesContents)
  }

  /// What is left of a batch; nil if nothing is.
  func trigger(by batch: ChangeBatch) -> RunTrigger? {
    var own = batch
    own.changes.removeAll { !isTriggered(by: $0) }
    return own.changes.isEmpty ? nil : RunTrigger(own)
  }
}

extension WatchedPath {
  fileprivate func covers(_ path: Path) -> Bool {
    if path == self.path { return true }
    return isRecursive ? path.isWithin(self.path) : path.parent == self.path
  }
}
