import Support
import SystemCalls

/// A handler of the events of a socket. Its methods are called on the loop's queue.
protocol SocketHandler: AnyObject {
  /// The socket has become readable or writable. Called once for each change of its state.
  func socketChanged(isReadable: Bool, isWritable: Bool)
  /// Other handlers have been served; the handler may continue.
  func takeTurn()
}

/// An event loop for sockets, and for calls at later times, on a serial queue. All calls share one timer.
final class SocketLoop: @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only.

  /// A call at a later time.
  private struct Call {
    var time: Instant
    var leeway: Duration
    var body: () -> Void
  }

  /// At least this leeway: without one, cancelled timers would stay with the system.
  private static let leastLeeway = Duration.milliseconds(1)

  let network: any Network
  /// The buffer for all reads.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  private let scheduler: any Scheduler
  private var handlers: [UInt64: any SocketHandler] = [:]
  private var waiting: Set<UInt64> = []
  private var calls: [UInt64: Call] = [:]
  private var lastToken: UInt64 = 0
  /// The bytes that streams have buffered since free memory was returned last.
  private var bufferedCount = 0
  private var returnsMemory = false
  private var timer: (time: Instant, work: any ScheduledWork)?

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

  /// The present time.
  var now: Instant { scheduler.now }

  /// Stops the loop, and releases the handlers.
  func stop() {
    network.stop()
    handlers = [:]
    calls = [:]
    stopTimer()
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
    call(after: .seconds(1), leeway: .milliseconds(500)) { [weak self] in
      guard let self else { return }
      if bufferedCount != before { return returnMemorySoon() }
      (bufferedCount, returnsMemory) = (0, false)
      network.returnMemory()
    }
  }

  // MARK: - Later calls

  /// Calls the body later, unless it is cancelled with the returned number.
  ///
  /// - Parameter leeway: By how much the call may be late where that saves a wake-up.
  @discardableResult
  func call(
    after time: Duration, leeway: Duration = .zero, _ body: @escaping () -> Void
  ) -> UInt64 {
    lastToken += 1
    let call = Call(
      time: now.advanced(by: time), leeway: max(leeway, Self.leastLeeway), body: body)
    calls[lastToken] = call
    startTimer(for: call)
    return lastToken
  }

  /// Cancels a call, if there is one.
  func cancelCall(_ number: inout UInt64?) {
    if let number { cancelCall(number) }
    number = nil
  }

  func cancelCall(_ number: UInt64) {
    calls[number] = nil
    // An earlier timer than needed finds nothing to do, but an idle server never wakes up.
    if calls.isEmpty { stopTimer() }
  }

  private func startTimer(for call: Call) {
    if let timer, timer.time <= call.time { return }
    stopTimer()
    let time = call.time
    let work = scheduler.schedule(at: time, leeway: call.leeway) { @Sendable [weak self] in
      self?.tick(time)
    }
    timer = (time, work)
  }

  private func stopTimer() {
    timer?.work.cancel()
    timer = nil
  }

  private func tick(_ time: Instant) {
    // A timer that was cancelled too late.
    guard timer?.time == time else { return }
    stopTimer()
    let now = now
    let due = calls.filter { $0.value.time <= now }
    let numbers = due.keys.sorted { (due[$0]?.time ?? now, $0) < (due[$1]?.time ?? now, $1) }
    // An earlier one may cancel a later one.
    for number in numbers { calls.removeValue(forKey: number)?.body() }
    if let next = calls.values.min(by: { $0.time < $1.time }) { startTimer(for: next) }
  }
}
