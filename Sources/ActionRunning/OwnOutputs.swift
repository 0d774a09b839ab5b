import FileObservation
import SystemCalls

/// Finds out which watched files the command itself writes, so that it does not start itself for ever.
///
/// A run started only by changes made during the run before it is a follow-up. When two follow-ups
/// in a row were started by the same paths, these are the command's own outputs. From then on a change
/// to them during a run starts nothing; while nothing runs, it counts. So no edit is lost: one made
/// to such a file during a run is overwritten by the command or seen by it.
///
/// Where each change restarts the command, it always runs, and the rule cannot be applied. Five
/// restarts within ten seconds by the same paths are told of, and that is all.
struct OwnOutputs: Sendable {
  private static let restartLimit = 5
  private static let restartSpan = Duration.seconds(10)

  private(set) var paths: Set<Path> = []
  private var lastFollowUp: Set<Path> = []
  private var restarts: [(time: Instant, paths: Set<Path>)] = []
  private var hasToldOfRestarts = false

  /// What is left of a trigger that came by changes during a run; nil if nothing is.
  func filter(_ trigger: Trigger) -> Trigger? {
    guard trigger.cameDuringRun, !paths.isEmpty else { return trigger }
    var rest = trigger
    rest.changes.removeAll { paths.contains($0.path) }
    return rest.changes.isEmpty ? nil : rest
  }

  /// A run begins. The paths that have turned out to be outputs by it; empty if none have.
  mutating func runBegins(_ trigger: Trigger) -> [Path] {
    guard trigger.cameDuringRun, !trigger.changes.isEmpty else {
      lastFollowUp = []
      return []
    }
    let started = Set(trigger.changes.map(\.path))
    defer { lastFollowUp = started }
    guard started == lastFollowUp, !started.isSubset(of: paths) else { return [] }
    paths.formUnion(started)
    return trigger.changes.map(\.path)
  }

  /// A change restarts the command. The paths, if they do so over and over, and this was not told of.
  mutating func restarted(by trigger: Trigger, at now: Instant) -> [Path] {
    let paths = Set(trigger.changes.map(\.path))
    if restarts.last.map({ $0.paths != paths }) ?? false { restarts = [] }
    restarts.append((now, paths))
    restarts.removeAll { $0.time.duration(to: now) > Self.restartSpan }
    guard restarts.count >= Self.restartLimit, !hasToldOfRestarts, !paths.isEmpty else { return [] }
    hasToldOfRestarts = true
    return trigger.changes.map(\.path)
  }
}
