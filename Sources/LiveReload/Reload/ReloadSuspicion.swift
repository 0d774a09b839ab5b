import SystemCalls

/// Decides whether files change because pages are loaded, as the log of a server behind a proxy does. A
/// state machine; times are milliseconds on any clock.
///
/// A person who saves at an even pace, and a server that writes a file at each request, look alike, until a
/// reload is delayed: what a load writes is delayed with it, and what the person saves is not.
///
/// - A change before any request since the last reload is not caused by it.
/// - Three consecutive changes at the same time after their reloads delay the next reloads, as a test.
///   If the changes after these follow their reloads at the same time again, loads write the file.
/// - The same holds for five consecutive changes soon after their reloads, with longer tests.
/// - A change while a reload is delayed acquits the file if no request has been made for a while.
/// - Reloads for a file that loads write are delayed for longer and longer.
struct ReloadSuspicion: Sendable {
  /// The longest time from a reload to a change that it may have caused.
  private static let longestOffset = 5_000
  /// By how much the time from a reload to its change varies. Less than the delay of a test.
  private static let tolerance = 80
  /// Until when after a reload changes count as changes at the same time: a page loads by many requests.
  private static let loadTime = 300
  /// Until when after a reload a change is soon.
  private static let soon = 500
  /// The numbers of changes from which on reloads are delayed as a test, and those which prove the case.
  private static let matches = (tested: 2, proven: 6)
  private static let soonChanges = (tested: 5, proven: 8)
  private static let shortTest = 250
  private static let longTest = 1_000
  private static let shortestPause = 4_000
  private static let longestPause = 600_000

  /// The paths and the time of the last reload.
  private var paths: Set<Path> = []
  private var reloaded = Int.min / 2
  private var lastRequest = Int.min / 2
  /// The time from the last but one reload to the change after it.
  private var offset: Int?
  /// The number of consecutive changes at the same time after the reload as the one before.
  private var matches = 0
  /// The number of consecutive changes soon after the reload.
  private var soonChanges = 0

  /// A request is passed on to the server.
  mutating func requested(at now: Int) {
    lastRequest = now
  }

  /// Pages reload.
  ///
  /// - Parameter changed: The paths because of which they do; empty after a task without visible changes.
  mutating func reloaded(for changed: [Path], at now: Int) {
    if !changed.isEmpty { paths = Set(changed) }
    reloaded = now
  }

  /// How long the reload for these changes is delayed.
  mutating func delay(of changed: [Path], at now: Int) -> Int {
    let time = now - reloaded
    guard paths.isSuperset(of: changed), time < Self.longestOffset, lastRequest >= reloaded else {
      acquit()
      return 0
    }
    matches = offset.map { isSame(time, as: $0) } ?? false ? matches + 1 : 0
    soonChanges = time < Self.soon ? soonChanges + 1 : 0
    offset = time
    let excess = max(matches - Self.matches.proven, soonChanges - Self.soonChanges.proven)
    if excess >= 0 { return min(Self.shortestPause << min(excess, 10), Self.longestPause) }
    if excess == -1 || soonChanges >= Self.soonChanges.tested { return Self.longTest }
    return matches >= Self.matches.tested ? Self.shortTest : 0
  }

  /// Whether one of these changes, while the reload is delayed, was not caused by a load.
  mutating func isOfOthers(_ changed: [Path], at now: Int) -> Bool {
    let quiet = now - max(lastRequest, reloaded)
    if paths.isSuperset(of: changed) && quiet < max(Self.soon, 2 * (offset ?? 0)) { return false }
    acquit()
    return true
  }

  /// Whether a delay is long enough to be noticed.
  static func isNoticed(_ delay: Int) -> Bool { delay >= shortestPause }

  private mutating func acquit() {
    (offset, matches, soonChanges) = (nil, 0, 0)
  }

  private func isSame(_ time: Int, as former: Int) -> Bool {
    time > former - Self.tolerance && time < max(former + Self.tolerance, Self.loadTime)
  }
}
