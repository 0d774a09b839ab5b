import Support
import SystemCalls

/// A handler of the events of a socket. Its methods are called on the loop's queue.
protocol SocketHandler: AnyObject {
  /// The socket has become readable or writable. Called once for each change of its state.
  func socketChanged(isReadable: Bool, isWritable: Bool)
  /// Other handlers have been served; the handler may continue.
  func takeTurn()
}

/// An event loop for sockets, and for calls at later times, on a serial queue.
final class SocketLoop: @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only.

  /// A call at a later time.
  typealias Call = any ScheduledWork

  let network: any Network
  /// The buffer for all reads.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  private let scheduler: any Scheduler
  private var handlers: [UInt64: any SocketHandler] = [:]
  private var waiting: Set<UInt64> = []
  private var lastToken: UInt64 = 0
  /// The bytes that streams have buffered since free memory was returned last.
  private var bufferedCount = 0
  private var returnsMemory = false

  init(_ network: any Network, _ scheduler: any Scheduler) {
    self.network = network
    self.scheduler = scheduler
    network.start { [weak self] event in
      // An earlier handler may have removed this one.
      self?.handlers[event.token]?.socketChanged(
        isReadable: event.isReadable, isWritable: event.isWritable)
    }
  }

  deinit {
    readBuffer.deallocate()
  }

  var now: Instant { scheduler.now }

  func stop() {
    network.stop()
    handlers = [:]
  }

  /// Calls the handler for the events of a socket until `remove`. The token identifies the socket.
  func add(_ handler: any SocketHandler, for socket: any EventSocket) throws(SystemError) -> UInt64
  {
    lastToken += 1
    try socket.watch(token: lastToken)
    handlers[lastToken] = handler
    return lastToken
  }

  /// Removes a handler. The caller then closes its socket.
  func remove(_ token: UInt64) {
    handlers[token] = nil
  }

  /// Calls the handler's `takeTurn` after the pending events.
  func giveTurn(to token: UInt64) {
    let isFirst = waiting.isEmpty
    guard waiting.insert(token).inserted, isFirst else { return }
    network.enqueue { @Sendable [self] in
      let tokens = waiting
      waiting = []
      for token in tokens.sorted() { handlers[token]?.takeTurn() }
    }
  }

  // MARK: - Memory

  /// The bytes from which on free memory is worth to be returned.
  private static let muchMemory = 16 * 1024 * 1024

  /// A stream has buffered bytes. After many of them, free memory is returned once a second has passed without more.
  func noteBuffered(_ count: Int) {
    bufferedCount += count
    if bufferedCount >= Self.muchMemory && !returnsMemory { returnMemorySoon() }
  }

  private func returnMemorySoon() {
    returnsMemory = true
    let before = bufferedCount
    call(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      if bufferedCount != before { return returnMemorySoon() }
      (bufferedCount, returnsMemory) = (0, false)
      network.returnMemory()
    }
  }

  // MARK: - Later calls

  /// Calls the body later, unless the call is cancelled, or the loop is gone.
  @discardableResult
  func call(after time: Duration, _ body: @escaping () -> Void) -> Call {
    // It is called on the queue, as all else.
    nonisolated(unsafe) let body = body
    return scheduler.schedule(at: now.advanced(by: time)) { @Sendable [weak self] in
      if self != nil { body() }
    }
  }

  /// Cancels a call, if there is one.
  func cancelCall(_ call: inout Call?) {
    call?.cancel()
    call = nil
  }
}
