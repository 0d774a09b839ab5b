/// Waits until `condition` is true, and returns whether it is within the time. Only for tests with
/// the real kernel; all others use virtual time.
package func eventually(
  within limit: Duration = .seconds(60), _ condition: () throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return try condition()
}
