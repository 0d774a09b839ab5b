import FileObservation
import SystemCalls

/// Why a run is wanted, and which changes it is to see to.
public struct RunTrigger: Sendable, Hashable {
  /// The occasion, as the command is told it.
  public enum Reason: String, Sendable, Hashable {
    /// The beginning.
    case start
    /// A change.
    case change
    /// Changes of which the kernel has dropped some.
    case overflow
    /// A key was pressed.
    case key
    /// The command had ended by itself, and is kept alive.
    case restart
  }

  /// The occasion.
  public var reason: Reason
  /// What has changed, one change a path.
  public var changes: [ChangeBatch.Change]

  /// Whether a change is the occasion.
  var isChange: Bool { reason == .change || reason == .overflow }

  /// A trigger without changes, or with those that are given.
  public init(_ reason: Reason, changes: [ChangeBatch.Change] = []) {
    self.reason = reason
    self.changes = changes
  }

  /// A trigger by what an observer has seen.
  public init(_ batch: ChangeBatch) {
    self.init(batch.overflow ? .overflow : .change, changes: batch.changes)
  }

  /// One trigger for this and a later one: one change a path, the paths in the order in which they
  /// first appeared. What was made and removed in between is told of as removed, since a run may
  /// have seen it.
  func merged(with later: RunTrigger) -> RunTrigger {
    var changes = self.changes
    var places: [Path: Int] = [:]
    for (index, change) in changes.enumerated() { places[change.path] = index }
    for change in later.changes {
      if let place = places[change.path] {
        changes[place] = changes[place].followed(by: change)
      } else {
        places[change.path] = changes.count
        changes.append(change)
      }
    }
    let isOverflow = reason == .overflow || later.reason == .overflow
    return RunTrigger(isOverflow ? .overflow : later.reason, changes: changes)
  }
}

extension ChangeBatch.Change {
  /// The net change of this one and a later one of the same path.
  func followed(by later: Self) -> Self {
    var net = later
    switch (kind, later.kind) {
    case (.removed, .created): net.kind = .modified
    case (.created, .modified), (.created, .metadata): net.kind = .created
    case (.modified, .metadata): net.kind = .modified
    case (.renamed, .modified), (.renamed, .metadata):
      net.kind = .renamed
      net.from = from
    default: break
    }
    return net
  }
}
