import FileObservation
import SystemCalls

/// A reason for a run, with the changes that the run receives.
public struct RunTrigger: Sendable, Hashable {
  /// The kind of a reason. Its raw value is passed to the command as `WATCHRUN_REASON`.
  public enum Reason: String, Sendable, Hashable {
    /// The start of the program.
    case start
    /// Files changed.
    case change
    /// Files changed, and the list may be incomplete, because the kernel dropped events.
    case overflow
    /// A user pressed a key.
    case key
    /// The command ended by itself and is kept alive.
    case restart
  }

  /// The kind of the reason.
  public var reason: Reason
  /// The changes, at most one for each path.
  public var changes: [ChangeBatch.Change]

  /// Whether the reason is a change.
  var isChange: Bool { reason == .change || reason == .overflow }

  /// Creates a trigger, by default without changes.
  public init(_ reason: Reason, changes: [ChangeBatch.Change] = []) {
    self.reason = reason
    self.changes = changes
  }

  /// Creates a trigger from a batch of an observer.
  public init(_ batch: ChangeBatch) {
    self.init(batch.overflow ? .overflow : .change, changes: batch.changes)
  }

  /// Combines this trigger and a later one: one net change for each path, in the order of first appearance.
  /// A path that was created and then removed is reported as removed, since a run may have seen it.
  func merged(with later: RunTrigger) -> RunTrigger {
    var changes = self.changes
    var indices: [Path: Int] = [:]
    for (index, change) in changes.enumerated() { indices[change.path] = index }
    for change in later.changes {
      if let index = indices[change.path] {
        changes[index] = changes[index].followed(by: change)
      } else {
        indices[change.path] = changes.count
        changes.append(change)
      }
    }
    let isOverflow = reason == .overflow || later.reason == .overflow
    return RunTrigger(isOverflow ? .overflow : later.reason, changes: changes)
  }
}

extension ChangeBatch.Change {
  /// The net change of this change and a later one to the same path.
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
