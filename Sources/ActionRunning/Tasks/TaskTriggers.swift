import FileObservation
import PathFiltering

/// The changes that start a task.
public struct TaskTriggers: Sendable, Hashable {
  /// The watched files and directories, by absolute paths.
  public var watched: [WatchedPath]
  /// The patterns of the task. Ignore files are applied by the observer.
  public var filter: PathFilter
  /// The kinds of change that start the task.
  public var kinds: Set<ChangeBatch.Kind>
  /// The paths that the task declares to write. Their changes do not start it, whatever process makes them.
  public var writes: DeclaredWrites
  /// Whether every change starts the task, because its source reports no others.
  var includesAll = false

  /// The triggers of a task that every reported change starts.
  public static let all: TaskTriggers = {
    var triggers = TaskTriggers()
    triggers.includesAll = true
    return triggers
  }()

  /// Creates triggers; by default for all kinds but `metadata`. A task that watches nothing is
  /// never started by a change.
  public init(
    watched: [WatchedPath] = [], filter: PathFilter = PathFilter(),
    kinds: Set<ChangeBatch.Kind> = Set(ChangeBatch.Kind.allCases).subtracting([.metadata]),
    writes: DeclaredWrites = DeclaredWrites()
  ) {
    self.watched = watched
    self.filter = filter
    self.kinds = kinds
    self.writes = writes
  }

  /// Whether the change starts the task. A rename counts for both of its paths.
  public func isTriggered(by change: ChangeBatch.Change) -> Bool {
    isConcerned(by: change) { path in
      !writes.contains(path, isDirectory: change.mayBeOfDirectory, watched: watched)
    }
  }

  /// Whether the change would start the task if it declared nothing.
  package func isWatched(_ change: ChangeBatch.Change) -> Bool {
    isConcerned(by: change) { _ in true }
  }

  /// The rule by which the task declares to write what it watches; `nil` if the change starts it, or is none of it.
  package func ruleDeclaring(_ change: ChangeBatch.Change) -> FilterDecision.Rule? {
    if !isWatched(change) || isTriggered(by: change) { return nil }
    return writes.rule(
      for: change.path, isDirectory: change.mayBeOfDirectory, watched: watched)
  }

  private func isConcerned(
    by change: ChangeBatch.Change, where counts: (Path) -> Bool
  ) -> Bool {
    guard includesAll || kinds.contains(change.kind) else { return false }
    func concerns(_ path: Path) -> Bool {
      let isWatched = includesAll || watched.contains { passes(path, change, below: $0) }
      return isWatched && counts(path)
    }
    return concerns(change.path) || change.from.map(concerns) ?? false
  }

  private func passes(
    _ path: Path, _ change: ChangeBatch.Change, below root: WatchedPath
  ) -> Bool {
    guard root.covers(path) else { return false }
    let isDirectory = change.type == .directory
    // Entries of a renamed or removed directory are not reported one by one.
    let takesContents = isDirectory && (change.kind == .renamed || change.kind == .removed)
    return filter.passesPatterns(
      path, isDirectory: isDirectory, below: root.path, coversDescendants: takesContents)
  }

  func changes(in changes: [ChangeBatch.Change]) -> [ChangeBatch.Change] {
    includesAll && writes.patterns.isEmpty ? changes : changes.filter(isTriggered)
  }
}

extension ChangeBatch.Change {
  /// Whether the entry is a directory, or was one before it was removed, as far as that is known.
  fileprivate var mayBeOfDirectory: Bool {
    type == .directory || kind == .removed && type == .unknown
  }
}

extension WatchedPath {
  /// Whether the path is watched through this one.
  package func covers(_ path: Path) -> Bool {
    if path == self.path { return true }
    return isRecursive ? path.isWithin(self.path) : path.parent == self.path
  }
}
