import SystemCalls

/// Waits until what was changed before bears an earlier time than what is changed from now on: the
/// clock that stamps files ticks every few milliseconds.
package func clockTicks() async -> Bool {
  let before = FileTime.latest()
  return await eventually { FileTime.now() > before }
}
