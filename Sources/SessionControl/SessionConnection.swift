import Dispatch
import Support
import SystemCalls

/// The connection of a client, on a serial queue. It reads one line and sends lines. A client that sends too much is
/// dropped, and so is one that follows the session and does not read.
final class SessionConnection: Sendable {
  enum Event {
    case line([UInt8])
    /// The client has gone, or was dropped. Nothing follows.
    case closed
  }

  private struct State {
    var reading: (any DispatchSourceRead)?
    var writing: (any DispatchSourceWrite)?
    var input: [UInt8] = []
    var hasLine = false
    var output: ArraySlice<UInt8> = []
    /// How many bytes were added since there was nothing to send but what was sent first.
    var behind = 0
    var isLast = false
  }

  /// More output behind some that is unsent drops the client. An answer itself may be longer: it has the output of all
  /// tasks.
  private static let mostOutput = 8 * 1024 * 1024

  private let socket: Int32
  private let queue: DispatchQueue
  private let state: Confined<State>
  private let deliver: @Sendable (Event) -> Void

  init(
    _ socket: consuming Descriptor, on queue: DispatchQueue,
    deliver: @escaping @Sendable (Event) -> Void
  ) {
    let number = socket.release()
    (self.socket, self.queue, self.deliver) = (number, queue, deliver)
    let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
    state = Confined(State(reading: source), to: queue)
    source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
  }

  /// Begins to read. The connection stays alive until it is closed.
  func begin() {
    guard let source = state.access({ $0.reading }) else { return }
    source.setEventHandler { @Sendable [self] in read() }
    source.activate()
  }

  /// Closes the connection.
  func close() {
    let (reading, writing) = state.access { state in
      defer { (state.reading, state.writing, state.output) = (nil, nil, []) }
      return (state.reading, state.writing)
    }
    writing?.cancel()
    guard let reading else { return }
    // Breaks the cycle of the handler.
    reading.setEventHandler(handler: nil)
    reading.cancel()
    deliver(.closed)
  }

  private func read() {
    switch readAvailable(socket, atMost: 16 * 1024) {
    case .nothing: return
    case .end: return close()
    case .bytes(let bytes):
      let line = state.access { state -> [UInt8]? in
        // What follows the first line is ignored.
        if state.hasLine { return nil }
        state.input += bytes
        let end = state.input.firstIndex(of: UInt8(ascii: "\n"))
        guard end != nil || state.input.count > SessionRequest.longest else { return nil }
        defer { (state.hasLine, state.input) = (true, []) }
        return Array(state.input[..<(end ?? state.input.count)])
      }
      if let line { deliver(.line(line)) }
    }
  }

  /// Sends bytes, as fast as the client reads.
  ///
  /// - Parameter isLast: Whether the connection is closed after them.
  func send(_ bytes: [UInt8], isLast: Bool) {
    let isOpen = state.access { state in
      state.isLast = state.isLast || isLast
      let unsent = state.output.count
      state.behind = unsent == 0 ? 0 : state.behind + bytes.count
      let isTooMuch = min(state.behind, unsent) > Self.mostOutput
      if state.reading == nil || isTooMuch { return false }
      state.output += bytes
      return true
    }
    if isOpen { write() } else { close() }
  }

  private func write() {
    while true {
      let output = state.access { $0.output }
      if output.isEmpty {
        // Keeps no memory for what has been sent.
        state.access { $0.output = [] }
        return state.access({ $0.isLast }) ? close() : stopWriting()
      }
      switch output.withUnsafeBytes({ Socket.send($0, to: socket) }) {
      case .count(let count): state.access { $0.output = $0.output.dropFirst(count) }
      case .nothing: return writeLater()
      case .failed: return close()
      }
    }
  }

  private func stopWriting() {
    state.access { $0.writing.take() }?.cancel()
  }

  private func writeLater() {
    if state.access({ $0.writing != nil }) { return }
    // A descriptor of its own, so that each source closes what it watches.
    guard let copy = try? Descriptor.duplicate(socket) else { return close() }
    let number = copy.release()
    let source = DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue)
    source.setEventHandler { @Sendable [weak self] in self?.write() }
    source.setCancelHandler { @Sendable in _ = Descriptor(owning: number) }
    state.access { $0.writing = source }
    source.activate()
  }
}
