/// True as soon as `condition` is; false if it is not within the time. For what only the real kernel
/// can bring about; everything else is tested in virtual time.
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
