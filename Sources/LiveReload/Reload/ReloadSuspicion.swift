import Support
import SystemCalls

/// Decides whether files change because pages are loaded, as the log of a server behind a proxy does. A
/// state machine; times are milliseconds on any clock.
///
/// A load is to a reload what a run is to a restart: it may write what is watched, and lead to the next
/// one. So the same law delays reloads (`Suspicion`). What a load writes is delayed with the reload,
/// and what a person saves is not.
///
/// - A change before any request since the last reload is of others, and so is a change while a reload is
///   delayed, if no request has been made for a while.
/// - Of any other change soon after a reload it is unknown whether a load has made it.
struct ReloadSuspicion: Sendable {
  /// The longest time from a reload to a change that it may have caused.
  private static let longestOffset = 5_000
  /// For how long no request has been made when a change is of others: at least so long, and 1.5 times as
  /// long as the change before took.
  private static let quietTime = 500

  /// The paths and the time of the last reload.
  private var paths: Set<Path> = []
  private var reloaded = Int.min / 2
  private var lastRequest = Int.min / 2
  private var reloadCount = 0
  /// When that was, by a clock that does not go on while nothing is reloaded for long.
  private var start = Instant(offset: .zero)
  private var suspicion = Suspicion()

  /// A request is passed on to the server.
  mutating func requested(at now: Int) {
    lastRequest = now
  }

  /// Pages reload.
  ///
  /// - Parameter changed: The paths because of which they do; empty after a task without visible changes.
  mutating func reloaded(for changed: [Path], at now: Int) {
    if !changed.isEmpty { paths = Set(changed) }
    let time = Duration.milliseconds(min(now - reloaded, Self.longestOffset))
    suspicion.began(after: time)
    start = start.advanced(by: time)
    reloaded = now
    reloadCount += 1
  }

  /// How long the reload for these changes is delayed.
  mutating func delay(of changed: [Path], at now: Int) -> Int {
    let time = now - reloaded
    guard paths.isSuperset(of: changed), time < Self.longestOffset, lastRequest >= reloaded else {
      suspicion.reset()
      return 0
    }
    note(.unknown, at: now)
    return suspicion.delay(number: reloadCount).milliseconds
  }

  /// Whether one of these changes, while the reload is delayed, was not caused by a load.
  mutating func isOfOthers(_ changed: [Path], at now: Int) -> Bool {
    let quiet = now - max(lastRequest, reloaded)
    let offset = suspicion.offset?.milliseconds ?? 0
    let mayBeOfLoad =
      paths.isSuperset(of: changed) && quiet < max(Self.quietTime, offset * 3 / 2)
    note(mayBeOfLoad ? .unknown : .others, at: now)
    return !mayBeOfLoad
  }

  private mutating func note(_ verdict: Suspicion.Verdict, at now: Int) {
    let time = Duration.milliseconds(now - reloaded)
    suspicion.changed(
      verdict, at: start.advanced(by: min(time, .milliseconds(Self.longestOffset))), after: time)
  }

  /// Whether a delay is long enough to be noticed.
  static func isNoticed(_ delay: Int) -> Bool {
    .milliseconds(delay) >= Suspicion.Rules.noticed
  }
}
