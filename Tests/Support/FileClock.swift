import SystemCalls

/// Waits for the next tick of the clock that stamps files, so that later changes have a later time.
/// It ticks every few milliseconds.
package func clockTicks() async -> Bool {
  let before = FileTime.latest()
  return await eventually { FileTime.now() > before }
}
