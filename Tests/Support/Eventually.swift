/// Waits until `condition` is true, and returns whether it is within the time. Only for tests with
/// the real kernel; all others use virtual time.
package func eventually(
  within limit: Duration = .seconds(60), _ condition: () throws -> Bool
) async rethrows -> Bool {
  var patience = Patience(limit)
  while true {
    if try condition() { return true }
    if patience.isOver { return false }
    try? await patience.pause()
  }
}

/// The time that a wait may take, and the pauses between its checks.
///
/// Hundreds of tests share a few threads, and what is waited for may need one of them: while a test
/// that calculates for half a minute occupies them all, nothing has been given a chance. A pause
/// therefore counts for a tenth of a second at most.
package struct Patience {
  private var remaining: Duration
  /// A check takes processor time from what is waited for, so the pauses grow.
  private var length = Duration.milliseconds(2)

  package init(_ limit: Duration) {
    remaining = limit
  }

  package var isOver: Bool { remaining <= .zero }

  package mutating func pause() async throws {
    let start = ContinuousClock.now
    try await Task.sleep(for: length)
    remaining -= min(ContinuousClock.now - start, .milliseconds(100))
    length = min(length * 5 / 4, .milliseconds(30))
  }
}
