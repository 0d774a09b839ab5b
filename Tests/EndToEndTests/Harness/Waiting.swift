import TestSupport

/// How long a test waits for something that should happen at once. Long, because the machine may be
/// busy with other things; a test that passes never waits it out.
let patience = Duration.seconds(60)

/// The same for what is said when each run changes a file: on a busy machine the times vary at which it does, and a
/// hundred runs come first, with delays.
let patienceForLoops = Duration.seconds(900)

/// A condition that was not met in time.
struct TimedOut: Error, CustomStringConvertible {
  let description: String

  init(_ claim: String) {
    description = "waited in vain: \(claim)"
  }
}

/// Waits until the condition holds.
func eventually(
  _ claim: String, within limit: Duration = patience, _ condition: () throws -> Bool
) async throws {
  _ = try await value(claim, within: limit) { try condition() ? true : nil }
}

/// Waits until there is a value, and returns it.
func value<Value>(
  _ claim: String, within limit: Duration = patience, _ find: () throws -> Value?
) async throws -> Value {
  var time = Patience(limit)
  while true {
    if let found = try find() { return found }
    if time.isOver { throw TimedOut(claim) }
    try await time.pause()
  }
}

/// Whether the condition holds at least once in five attempts. For what a busy machine may prevent, but not each
/// time.
func isOnce(_ condition: () async throws -> Bool) async throws -> Bool {
  for _ in 1...5 where try await condition() { return true }
  return false
}

/// Whether the action takes less than this time, at least once in five attempts.
func isFaster(than limit: Duration, _ action: () async throws -> Void) async throws -> Bool {
  try await isOnce {
    let start = ContinuousClock.now
    try await action()
    return ContinuousClock.now - start < limit
  }
}
