import Dispatch
import Synchronization
import SystemCalls

/// Writes to a descriptor, in order, and keeps nobody waiting for its reader who must not be.
///
/// A pipe that nobody reads takes nothing, nor does a terminal that was stopped by Ctrl-S. Commands are to be
/// started and stopped all the same.
final class Outlet: Sendable {
  private struct State {
    /// What is to be written next, whole lines.
    var pending: [[UInt8]] = []
    /// How many bytes have not been taken, these among them.
    var backlog = 0
    var isWriting = false
    /// True from when its reader was waited for in vain until it has taken all.
    var isStuck = false
    /// True once nobody waits any more for as long as it takes.
    var isHurried = false
    /// Those who wait until all is written.
    var waiting: [DispatchSemaphore] = []

    mutating func release() -> [DispatchSemaphore] {
      defer { waiting = [] }
      return waiting
    }
  }

  /// How long a message is waited for, so that what comes after it is shown after it.
  private static let patience = DispatchTimeInterval.milliseconds(100)
  /// How much may be passed on before it is waited for.
  private static let mostAhead = 64 * 1024
  /// What is kept for a reader who may read again.
  private static let mostKept = 256 * 1024
  /// What a pipe takes in one piece (`PIPE_BUF`): what others write never comes in between.
  private static let piece = 4096

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
    begin(message)
    settle()
  }

  /// Waits until all is written, or it has become clear that nobody reads.
  func settle() {
    if !state.withLock({ $0.isStuck }) { wait(until: .now() + Self.patience) }
  }

  /// Writes what may be much. As long as too much is not written, it waits, unless nobody is to any more.
  func pass(_ line: [UInt8]) {
    begin(line)
    if state.withLock({ $0.backlog > Self.mostAhead }) { flush() }
  }

  /// Waits until all is written, unless nobody is to wait any more.
  func flush() {
    if !state.withLock({ $0.isHurried }) { wait(until: .distantFuture) }
  }

  /// From now on nobody waits for as long as it takes.
  func hurry() {
    let waiting = state.withLock { state in
      state.isHurried = true
      return state.release()
    }
    for semaphore in waiting { semaphore.signal() }
  }

  private func wait(until time: DispatchTime) {
    let written = DispatchSemaphore(value: 0)
    let waits = state.withLock { state in
      if state.backlog == 0 || (state.isHurried && time == .distantFuture) { return false }
      state.waiting.append(written)
      return true
    }
    if !waits || written.wait(timeout: time) == .success { return }
    state.withLock { $0.isStuck = $0.backlog > 0 }
  }
}

// MARK: - Writing

extension Outlet {
  private func begin(_ line: [UInt8]) {
    let begins = state.withLock { state in
      if state.backlog > Self.mostKept { return false }
      state.pending.append(line)
      state.backlog += line.count
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { queue.async { [self] in writePending() } }
  }

  private func writePending() {
    while true {
      let (lines, waiting) = state.withLock { state -> ([[UInt8]], [DispatchSemaphore]) in
        defer { state.pending = [] }
        if !state.pending.isEmpty { return (state.pending, []) }
        (state.isWriting, state.isStuck) = (false, false)
        return ([], state.release())
      }
      for semaphore in waiting { semaphore.signal() }
      if lines.isEmpty { return }
      var piece: [UInt8] = []
      for line in lines {
        if !piece.isEmpty && piece.count + line.count > Self.piece {
          write(piece)
          piece = []
        }
        piece += line
      }
      write(piece)
    }
  }

  private func write(_ bytes: [UInt8]) {
    do throws(SystemError) {
      try writeAll(bytes, to: descriptor)
    } catch {
      failed(error)
    }
    state.withLock { $0.backlog -= bytes.count }
  }
}
