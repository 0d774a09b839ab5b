import Dispatch
import Synchronization
import SystemCalls

/// Writes messages and output to a descriptor, in order, without waiting for a reader that does not read.
///
/// A full pipe accepts nothing, and neither does a terminal that was stopped by Ctrl-S. Commands must
/// start and stop nevertheless.
final class OutputWriter: Sendable {
  private struct State {
    /// Whole lines that have not been written.
    var pending: [[UInt8]] = []
    /// The number of bytes that have not been accepted, including those being written.
    var backlog = 0
    var isWriting = false
    /// Whether nothing is written, while a program has the terminal.
    var isHeld = false
    /// Whether waiting for the reader timed out, and it has not read everything since.
    var isStuck = false
    var hasStoppedWaiting = false
    /// Called when the backlog is small again.
    var whenFree: [@Sendable () -> Void] = []
  }

  /// How long to wait until a message is written, so that what follows appears after it.
  private static let patience = DispatchTimeInterval.milliseconds(100)
  /// How long the rest may not be read before it is given up at the end.
  private static let patienceAtEnd = DispatchTimeInterval.seconds(2)
  /// The size of the backlog from which on there is no room for output.
  private static let maximumAhead = 64 * 1024
  /// The size of the backlog from which on text is dropped: messages, and the ends of many runs.
  private static let maximumKept = 6 * 1024 * 1024
  /// The size up to which a pipe accepts a write as a whole (`PIPE_BUF`), unmixed with those of others.
  private static let piece = 4096

  private let descriptor: Int32
  private let row: StatusRow?
  private let queue: DispatchQueue
  private let state = Mutex(State())
  private let failed: @Sendable (SystemError) -> Void

  /// - Parameter failed: Called on a queue of the writer when a write fails.
  init(
    _ descriptor: Int32, above row: StatusRow? = nil,
    failed: @escaping @Sendable (SystemError) -> Void
  ) {
    self.descriptor = descriptor
    self.row = row
    self.failed = failed
    queue = DispatchQueue(label: "watchrun.output.\(descriptor)", qos: .userInitiated)
  }

  /// Writes a message, and waits until it is written, but at most 100 ms. A message that the reader does
  /// not take is kept, up to 6 MiB in all.
  func write(message: [UInt8]) {
    enqueue(message)
    drain()
  }

  /// Waits until everything is written, but at most 100 ms, and not at all for a reader that does not read.
  func drain() {
    if !state.withLock({ $0.isStuck || $0.isHeld }) { wait(until: .now() + Self.patience) }
  }

  /// Whether the backlog is small. If not, calls `body` once when it is.
  func hasRoom(_ body: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      // What is held takes more, so that what writes it does not wait.
      if state.backlog <= (state.isHeld ? Self.maximumKept / 2 : Self.maximumAhead) { return true }
      state.whenFree.append(body)
      return false
    }
  }

  /// Waits until everything is written; after `stopWaiting`, only while the reader reads.
  func flush() {
    while true {
      let (before, isWriting) = state.withLock { ($0.backlog, $0.isWriting) }
      if !isWriting { return }
      wait(until: .now() + Self.patienceAtEnd)
      if state.withLock({ $0.hasStoppedWaiting && $0.backlog >= before }) { return }
    }
  }

  /// Ends all waiting for a reader that does not read, now and later.
  func stopWaiting() { state.withLock { $0.hasStoppedWaiting = true } }

  /// Keeps all that follows until `release`, while a program has the terminal.
  func hold() {
    drain()
    state.withLock { $0.isHeld = true }
  }

  func release() {
    let begins = state.withLock { state in
      state.isHeld = false
      return !state.pending.isEmpty && !exchange(&state.isWriting, with: true)
    }
    if begins { queue.async { [self] in writePending() } }
  }

  private func wait(until time: DispatchTime) {
    if !state.withLock({ $0.isWriting }) { return }
    let written = DispatchSemaphore(value: 0)
    queue.async { written.signal() }
    if written.wait(timeout: time) == .success { return }
    state.withLock { $0.isStuck = $0.backlog > 0 }
  }
}

// MARK: - Writing

extension OutputWriter {
  /// Writes soon, without waiting.
  func enqueue(_ line: [UInt8]) {
    let begins = state.withLock { state in
      if state.backlog > Self.maximumKept { return false }
      state.pending.append(line)
      state.backlog += line.count
      return !state.isHeld && !exchange(&state.isWriting, with: true)
    }
    if begins { queue.async { [self] in writePending() } }
  }

  private func writePending() {
    while true {
      let lines = state.withLock { state in
        if !state.pending.isEmpty && !state.isHeld { return exchange(&state.pending, with: []) }
        (state.isWriting, state.isStuck) = (false, false)
        return []
      }
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
      if let row {
        try row.write(bytes, to: descriptor)
      } else {
        try writeAll(bytes, to: descriptor)
      }
    } catch {
      failed(error)
    }
    let free = state.withLock { state -> [@Sendable () -> Void] in
      state.backlog -= bytes.count
      return state.backlog > Self.maximumAhead / 2 ? [] : exchange(&state.whenFree, with: [])
    }
    for body in free { body() }
  }
}
