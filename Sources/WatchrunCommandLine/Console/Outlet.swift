import Dispatch
import Synchronization
import SystemCalls

/// Writes to a descriptor, in order, and keeps nobody waiting for its reader who must not be.
///
/// A pipe that nobody reads takes nothing, nor does a terminal that was stopped by Ctrl-S. Commands are to be
/// started and stopped all the same.
final class Outlet: Sendable {
  private struct State {
    /// How many bytes have not been taken.
    var backlog = 0
    /// True from when its reader was waited for in vain until it has taken all.
    var isStuck = false
    /// True once nobody waits any more.
    var isHurried = false
    /// Those who wait as long as it takes.
    var waiting: [DispatchSemaphore] = []
  }

  /// How long a message is waited for, so that what comes after it is shown after it.
  private static let patience = DispatchTimeInterval.milliseconds(100)
  /// What is kept for a reader who may read again.
  private static let mostKept = 256 * 1024

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let state = Mutex(State())
  private let failed: @Sendable (SystemError) -> Void

  /// - Parameter failed: Is called when something could not be written.
  init(_ descriptor: Int32, failed: @escaping @Sendable (SystemError) -> Void) {
    self.descriptor = descriptor
    self.failed = failed
    queue = DispatchQueue(label: "watchrun.outlet.\(descriptor)", qos: .userInitiated)
  }

  /// Writes a message. Returns when it is written, or when it has become clear that nobody reads; then
  /// it is kept, if it is not too much.
  func tell(_ message: [UInt8]) {
    let (isKept, waits) = state.withLock { state in
      if state.backlog + message.count > Self.mostKept { return (false, false) }
      return (true, !state.isStuck)
    }
    if !isKept { return }
    let written = begin(message)
    if !waits || written.wait(timeout: .now() + Self.patience) == .success { return }
    state.withLock { $0.isStuck = $0.backlog > 0 }
  }

  /// Writes what may be much. Returns when it is written, or nobody is to wait any more.
  func pass(_ bytes: [UInt8]) {
    let isTooMuch = state.withLock { $0.isHurried && $0.backlog > Self.mostKept }
    if !isTooMuch { wait(for: begin(bytes)) }
  }

  /// Waits until all is written, or nobody is to wait any more.
  func flush() {
    if state.withLock({ $0.backlog > 0 }) { wait(for: begin([])) }
  }

  /// From now on nobody waits for the reader.
  func hurry() {
    let waiting = state.withLock { state in
      state.isHurried = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }

  private func wait(for written: DispatchSemaphore) {
    let isHurried = state.withLock { state in
      if !state.isHurried { state.waiting.append(written) }
      return state.isHurried
    }
    if isHurried { return }
    written.wait()
    state.withLock { $0.waiting.removeAll { $0 === written } }
  }

  private func begin(_ bytes: [UInt8]) -> DispatchSemaphore {
    let written = DispatchSemaphore(value: 0)
    state.withLock { $0.backlog += bytes.count }
    queue.async { [self] in
      do throws(SystemError) {
        try writeAll(bytes, to: descriptor)
      } catch {
        failed(error)
      }
      state.withLock { state in
        state.backlog -= bytes.count
        if state.backlog == 0 { state.isStuck = false }
      }
      written.signal()
    }
    return written
  }
}
