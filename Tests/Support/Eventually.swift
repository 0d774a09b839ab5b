/// Waits until `condition` is true, and returns whether it is within the time. Only for tests with
/// the real kernel; all others use virtual time.
package func eventually(
  within limit: Duration = .seconds(60), _ condition: () throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  // A check takes processor time from what is waited for, and hundreds of tests wait at once.
  var pause = Duration.milliseconds(2)
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    try? await Task.sleep(for: pause)
    pause = min(pause * 5 / 4, .milliseconds(20))
  }
  return try condition()
}
