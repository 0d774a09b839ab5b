import PathFiltering
import Support
import Synchronization
import SystemCalls

/// A change that an observer has seen and does not report.
///
/// Ignored directories are not watched, so changes below them are not seen.
public struct IgnoredChange: Sendable, Hashable {
  /// Why a change is not reported.
  public enum Reason: Sendable, Hashable {
    /// By a rule of ``ObserverOptions/filter``.
    case rule(FilterDecision.Rule)
    /// Its kind is not among ``ObserverOptions/kinds``.
    case kind(ChangeBatch.Kind)
    /// With ``ObserverOptions/skipsUnchanged``, its content is the same as before.
    case sameContent
  }

  /// The absolute path.
  public let path: Path
  /// Why the change is not reported.
  public let reason: Reason
}

/// Passes ignored changes on, at most a hundred in a second: finding the rule is expensive.
final class IgnoredChangeSink: Sendable {
  private static let maximumInSecond = 100

  private let receive: @Sendable (IgnoredChange) -> Void
  private let budget = Mutex((second: Int64(0), count: 0))

  /// - Parameter receive: Called on the queue on which the change was seen.
  init(_ receive: @escaping @Sendable (IgnoredChange) -> Void) {
    self.receive = receive
  }

  /// Whether one more change is accepted now. Must be asked once for each.
  func accepts() -> Bool {
    let second = FileTime.now().nanoseconds / 1_000_000_000
    return budget.withLock { budget in
      if budget.second != second { budget = (second, 0) }
      budget.count += 1
      return budget.count <= Self.maximumInSecond
    }
  }

  func note(_ path: Path, _ reason: IgnoredChange.Reason) {
    receive(IgnoredChange(path: path, reason: reason))
  }
}

// MARK: - In the tree

extension ObservedTree {
  /// Passes on a change at a path that the filter does not report.
  func noteIgnored(_ path: @autoclosure () -> Path, isDirectory: Bool, _ stack: IgnoreStack?) {
    guard let ignoredChanges = settings.ignoredChanges, let stack, ignoredChanges.accepts() else {
      return
    }
    let path = path()
    let decision = filter.decision(for: path, isDirectory: isDirectory, in: stack)
    if !decision.isIncluded, let rule = decision.rule { ignoredChanges.note(path, .rule(rule)) }
  }
}

// MARK: - In bursts

extension FileObserver {
  /// Passes on the changes of a burst that are not among those that count.
  func noteIgnored(_ changes: [ChangeBatch.Change], except counting: [ChangeBatch.Change]) {
    guard let ignoredChanges, changes.count > counting.count else { return }
    let paths = Set(counting.map(\.path))
    for change in changes where !paths.contains(change.path) && ignoredChanges.accepts() {
      let isWanted = options.kinds.contains(change.kind)
      ignoredChanges.note(change.path, isWanted ? .sameContent : .kind(change.kind))
    }
  }

  /// Passes on changes of metadata alone, which are left out before they belong to a burst.
  func noteIgnoredMetadata(in events: [RawEvent]) {
    guard let ignoredChanges else { return }
    for event in events where event.kind == .metadata && ignoredChanges.accepts() {
      ignoredChanges.note(event.path, .kind(.metadata))
    }
  }
}
