import Dispatch
import FileObservation
import Support
import SystemCalls

/// Reads the output of a run from a pipe or a pseudo-terminal and delivers it line by line. A line that remains
/// unfinished, such as a prompt or a row of dots, is delivered as far as it goes, too.
///
/// Nothing is read while the receiver has no room: the pipe fills up and its writers block, and nothing else
/// waits. Other processes may keep the pipe open after the run has ended, so the reader does not wait for
/// the end of the pipe.
final class OutputReader: Sendable {
  private struct State {
    var splitter = LineSplitter()
    /// Whether the unfinished line is about to be delivered.
    var isDeliveryPlanned = false
    /// Whether the source is suspended until there is room.
    var isSuspended = false
    /// `nil` after the end of the pipe.
    var source: (any DispatchSourceRead)?
  }

  private static let part = 64 * 1024
  /// More than the capacity of a pipe, unless root has raised it.
  private static let mostAtEnd = 1024 * 1024
  /// Longer than a program needs between two parts of a line that it writes at once.
  private static let patience = DispatchTimeInterval.milliseconds(100)

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let state: Confined<State>
  private let hasRoom: TaskOutput.Room
  private let deliver: @Sendable (LineSplitter.Piece) -> Void

  /// Creates a reader, and the write end of its pipe or pseudo-terminal.
  ///
  /// - Parameters:
  ///   - terminal: The size of the pseudo-terminal; `nil` for a pipe.
  ///   - deliver: Called on the queue.
  static func open(
    on queue: DispatchQueue, terminal: Terminal.Size? = nil,
    hasRoom: @escaping TaskOutput.Room = { _ in true },
    deliver: @escaping @Sendable (LineSplitter.Piece) -> Void
  ) throws(SystemError) -> (OutputReader, PipeInput) {
    let (output, input) =
      if let terminal { try makePseudoTerminal(terminal) } else { try makePipe() }
    return (try OutputReader(output, queue, hasRoom, deliver), input)
  }

  private init(
    _ descriptor: Int32, _ queue: DispatchQueue, _ hasRoom: @escaping TaskOutput.Room,
    _ deliver: @escaping @Sendable (LineSplitter.Piece) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.queue = queue
    self.hasRoom = hasRoom
    self.deliver = deliver
    let source = try makeReadSource(owning: Descriptor(owning: descriptor), on: queue)
    state = Confined(State(source: source), to: queue)
    // The handlers retain the reader until the source is cancelled.
    source.setEventHandler { @Sendable [self] in readIfRoom() }
    source.activate()
  }

  /// Delivers all that the ended run has written, at most what a pipe holds if there is no room. Output of
  /// other processes that have the pipe open is delivered as it arrives.
  func runHasEnded() {
    // Other processes may write without end.
    for _ in 0..<(Self.mostAtEnd / Self.part) where !read() { break }
    finishLine()
  }

  func resize(_ size: Terminal.Size) {
    // The descriptor is open until the end of the source.
    if state.access({ $0.source != nil }) { Terminal(descriptor).setSize(size) }
  }

  private func finishLine() {
    if let rest = state.access({ $0.splitter.finish() }) { deliver(rest) }
  }

  private func readIfRoom() {
    if hasRoom({ [self] in queue.async { @Sendable [self] in resume() } }) {
      _ = read()
    } else {
      state.access { state in
        state.source?.suspend()
        state.isSuspended = true
      }
    }
  }

  private func resume() {
    state.access { state in
      if state.isSuspended { state.source?.resume() }
      state.isSuspended = false
    }
  }

  /// Reads once. Returns false if nothing was available.
  private func read() -> Bool {
    if state.access({ $0.source == nil }) { return false }
    switch readAvailable(descriptor, atMost: Self.part) {
    case .bytes(let bytes):
      for line in state.access({ $0.splitter.add(bytes) }) { deliver(line) }
      deliverUnfinishedSoon()
      return true
    case .nothing:
      return false
    case .end:
      resume()
      state.access { state in
        state.source?.cancel()
        state.source = nil
      }
      finishLine()
      return false
    }
  }

  private func deliverUnfinishedSoon() {
    let isPlanned = state.access { state in
      if state.isDeliveryPlanned || state.splitter.rest.isEmpty { return false }
      state.isDeliveryPlanned = true
      return true
    }
    guard isPlanned else { return }
    queue.asyncAfter(deadline: .now() + Self.patience) { @Sendable [weak self] in
      guard let self else { return }
      let rest = state.access { state in
        state.isDeliveryPlanned = false
        return state.splitter.rest
      }
      if !rest.isEmpty { deliver(.init(bytes: rest, isFinished: false)) }
    }
  }
}
