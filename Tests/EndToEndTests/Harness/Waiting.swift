/// How long a test waits for something that should happen at once. Long, because the machine may be
/// busy with other things; a test that passes never waits it out.
let patience = Duration.seconds(60)

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
  let deadline = ContinuousClock.now + limit
  // A check takes processor time from the program under test.
  var pause = Duration.milliseconds(5)
  while true {
    if let found = try find() { return found }
    if ContinuousClock.now > deadline { throw TimedOut(claim) }
    try await Task.sleep(for: pause)
    pause = min(pause * 3 / 2, .milliseconds(50))
  }
}
