import Dispatch
import SystemCalls

/// A handler of the events of a socket. Its methods are called on the loop's queue.
protocol SocketHandler: AnyObject {
  /// The socket has become readable or writable. Called once for each change of its state.
  func socketChanged(isReadable: Bool, isWritable: Bool)
  /// Other handlers have been served; the handler may continue.
  func takeTurn()
  /// The deadline of `SocketLoop.wake` has passed.
  func deadlinePassed()
}

/// An event loop for sockets on a serial queue. All sockets share one kernel event queue, which is
/// a single Dispatch source: connections need no threads, sources or timers of their own.
final class SocketLoop: @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only, which every entry point asserts.

  let queue: DispatchQueue
  /// The buffer for all reads.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  private let poller: SocketPoller
  private var source: (any DispatchSourceRead)?
  private var handlers: [UInt64: any SocketHandler] = [:]
  private var deadlines: [UInt64: DispatchTime] = [:]
  private var waiting: Set<UInt64> = []
  private var calls: [UInt64: () -> Void] = [:]
  private var results: [UInt64: (Int32?) -> Void] = [:]
  private var lastToken: UInt64 = 0
  private var timer: (any DispatchSourceTimer)?
  private var nextTick = DispatchTime.distantFuture

  init(queue: DispatchQueue) throws(SystemError) {
    self.queue = queue
    poller = try SocketPoller()
    let source = DispatchSource.makeReadSource(fileDescriptor: poller.number, queue: queue)
    // The handlers retain the loop, and so the descriptor, until the source is cancelled.
    source.setEventHandler { @Sendable [self] in readEvents() }
    source.setCancelHandler { @Sendable [self] in sourceIsGone() }
    self.source = source
    source.activate()
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Stops the loop, and releases the handlers.
  func stop() {
    dispatchPrecondition(condition: .onQueue(queue))
    handlers = [:]
    calls = [:]
    timer?.cancel()
    timer = nil
    source?.cancel()
  }

  private func sourceIsGone() {
    source = nil
  }

  /// Calls the handler for the events of a socket until `remove`. The token identifies the socket.
  func add(_ handler: any SocketHandler, for socket: Int32) throws(SystemError) -> UInt64 {
    dispatchPrecondition(condition: .onQueue(queue))
    lastToken += 1
    try poller.add(socket, token: lastToken)
    handlers[lastToken] = handler
    return lastToken
  }

  /// Removes a handler. The caller then closes its socket.
  func remove(_ token: UInt64) {
    handlers[token] = nil
    deadlines[token] = nil
  }

  private func readEvents() {
    for event in poller.readEvents() {
      // An earlier handler may have removed this one.
      handlers[event.token]?.socketChanged(
        isReadable: event.is_readable != 0, isWritable: event.is_writable != 0)
    }
  }

  /// Calls the handler's `takeTurn` after the pending events.
  func giveTurn(to token: UInt64) {
    let isFirst = waiting.isEmpty
    guard waiting.insert(token).inserted, isFirst else { return }
    queue.async { @Sendable [self] in
      let tokens = waiting
      waiting = []
      for token in tokens { handlers[token]?.takeTurn() }
    }
  }

  /// Calls the body later, unless it is cancelled with the returned number.
  @discardableResult
  func call(afterMilliseconds time: Int, _ body: @escaping () -> Void) -> UInt64 {
    dispatchPrecondition(condition: .onQueue(queue))
    lastToken += 1
    let number = lastToken
    calls[number] = body
    queue.asyncAfter(deadline: .now() + .milliseconds(time)) { @Sendable [weak self] in
      self?.calls.removeValue(forKey: number)?()
    }
    return number
  }

  func cancelCall(_ number: UInt64) {
    calls[number] = nil
  }

  /// Registers a body that is called with the value that any thread delivers to the returned
  /// number.
  func expectResult(_ body: @escaping (Int32?) -> Void) -> UInt64 {
    lastToken += 1
    results[lastToken] = body
    return lastToken
  }

  func deliver(_ socket: Int32?, to number: UInt64) {
    queue.async { @Sendable [self] in
      if let body = results.removeValue(forKey: number) {
        body(socket)
      } else if let socket {
        _ = Descriptor(owning: socket)
      }
    }
  }

  // MARK: - Deadlines

  /// Calls the handler's `deadlinePassed` after this many seconds, at most one later; never with
  /// `nil`. Replaces the previous deadline.
  func wake(_ token: UInt64, after seconds: Int?) {
    guard let seconds, handlers[token] != nil else {
      deadlines[token] = nil
      return
    }
    let deadline = DispatchTime.now() + .seconds(seconds)
    deadlines[token] = deadline
    if deadline < nextTick { schedule(deadline) }
  }

  private func schedule(_ time: DispatchTime) {
    let timer = self.timer ?? makeTimer()
    nextTick = time
    timer.schedule(deadline: time, leeway: .milliseconds(500))
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { @Sendable [weak self] in self?.tick() }
    timer.activate()
    self.timer = timer
    return timer
  }

  private func tick() {
    let now = DispatchTime.now()
    nextTick = .distantFuture
    for (token, deadline) in deadlines where deadline <= now {
      deadlines[token] = nil
      handlers[token]?.deadlinePassed()
    }
    // Only while there are deadlines, so that an idle server never wakes up.
    if let next = deadlines.values.min(), next < nextTick { schedule(next) }
  }
}
