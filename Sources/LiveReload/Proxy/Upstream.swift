import SystemCalls

/// The server behind a page: its idle connections, its state, and the requests that wait for it.
final class Upstream {
  private static let mostIdle = 32
  /// The longest time for which a request is held while the server restarts.
  private static let holdMilliseconds = 10_000
  /// How long a server that is asked to stop may take to answer its last requests.
  private static let patience = Duration.milliseconds(500)
  private static let shortestPause = 40
  private static let longestPause = 250

  let address: ServerAddress
  let loop: SocketLoop
  /// Whether the server is restarting.
  private(set) var isRestarting = false
  /// Whether it is known that a server which restarts is this one, so that nothing is asked of the one that stops.
  private var isCertain = false
  /// How often it has been restarted.
  private(set) var restarts = 0
  /// Whether the server cannot start until a failed task succeeds. No request is held then.
  var isHopeless = false {
    didSet { if isHopeless && !oldValue { giveUp() } }
  }

  private var idle: [UpstreamConnection] = []
  /// What ends the exchanges that a server which stops would wait for.
  private var stops: [ObjectIdentifier: (_ isSlow: Bool) -> Void] = [:]
  /// The requests without a response.
  private var waiters: [ObjectIdentifier: Waiter] = [:]
  /// The loopback address of the last successful connection.
  private var reachedHost: String?

  /// The timers of a request that waits for the server.
  private struct Waiter {
    /// The pause before the last retry, in milliseconds.
    var pause: Int?
    var retry: DueCall?
    /// The timer for the longest permitted time.
    var limit: DueCall?
  }

  private struct DueCall {
    var number: UInt64
    var body: () -> Void
  }

  init(_ address: ServerAddress, on loop: SocketLoop) {
    self.address = address
    self.loop = loop
  }

  // MARK: - Connections

  /// Provides a connection: an idle one at once, or a new one.
  func connect(isFresh: Bool, for user: any UpstreamUser) {
    while !isFresh, let connection = idle.popLast() {
      connection.onIdleClose = nil
      guard connection.isClean() else {
        connection.stream.close()
        continue
      }
      connection.stream.clear(.pooled)
      connection.use(by: user)
      return user.upstreamConnected(connection)
    }
    connect(to: hosts, for: user)
  }

  /// The addresses to try, the one that was reached last first.
  private var hosts: [String] {
    let hosts = addressesToTry(of: address.host)
    return reachedHost == hosts.last ? hosts.reversed() : hosts
  }

  private func connect(to hosts: [String], for user: any UpstreamUser) {
    let attempt = ConnectionAttempt(user) { [weak self] user in
      let rest = Array(hosts.dropFirst())
      if let self, !rest.isEmpty {
        connect(to: rest, for: user)
      } else {
        user.upstreamConnectionRefused()
      }
    } onSuccess: { [weak self] in
      self?.reachedHost = hosts[0]
    }
    loop.network.connect(to: hosts[0], port: address.port) { [weak self] socket in
      self?.begin(socket, attempt)
    }
  }

  private func begin(_ socket: (any StreamSocket)?, _ attempt: ConnectionAttempt) {
    guard let socket, let stream = try? ByteStream(connecting: socket, on: loop) else {
      socket?.close()
      return attempt.fail()
    }
    attempt.begin(UpstreamConnection(stream, for: attempt))
  }

  /// Takes back a connection.
  func release(_ connection: UpstreamConnection, isReusable: Bool) {
    connection.use(by: nil)
    if connection.isTunnel { return connection.stream.closeWhenSent() }
    self.isCertain = isCertain
    if !isReusable || idle.count >= Self.mostIdle || !connection.isClean() {
      return connection.stream.close()
    }
    connection.stream.resume()
    connection.stream.start(.pooled)
    connection.onIdleClose = { [weak self] closed in self?.idle.removeAll { $0 === closed } }
    idle.append(connection)
  }

  // MARK: - Restarts

  /// The server is stopping or starting. The connections are ended here, as far as they can be: a server that stops
  /// gracefully waits for them, and the side that ends one first keeps its port in use for a while.
  ///
  /// - Parameter isCertain: Whether no other server may be meant.
  func serverRestarts(isCertain: Bool) {
    isRestarting = true
    restarts += 1
    for connection in idle { connection.stream.close() }
    idle = []
    callStops(isSlow: false)
    if stops.isEmpty { return }
    let number = restarts
    loop.call(after: Self.patience) { [weak self] in
      if let self, isRestarting, restarts == number { callStops(isSlow: true) }
    }
  }

  /// Calls the body when the server is asked to stop, and again if it has not started again after a while.
  func whenServerStops(_ request: AnyObject, _ body: @escaping (_ isSlow: Bool) -> Void) {
    stops[ObjectIdentifier(request)] = body
  }

  private func callStops(isSlow: Bool) {
    for stop in Array(stops.values) { stop(isSlow) }
  }

  /// The server is ready, or has failed.
  func serverSettled() {
    isRestarting = false
    callAll(\.retry)
  }

  /// Calls `retry` after a pause, or as soon as the server is ready.
  func wait(_ request: AnyObject, retry: @escaping () -> Void) {
    let key = ObjectIdentifier(request)
    var pause = Self.holdMilliseconds
    if !isRestarting || !isCertain {
      pause = waiters[key]?.pause.map { min($0 * 3 / 2, Self.longestPause) } ?? Self.shortestPause
      waiters[key, default: Waiter()].pause = pause
    }
    schedule(\.retry, of: key, afterMilliseconds: pause, retry)
  }

  /// Calls the body when a request has been held for the longest permitted time.
  func limitHold(of request: AnyObject, _ body: @escaping () -> Void) {
    schedule(
      \.limit, of: ObjectIdentifier(request),
      afterMilliseconds: isHopeless ? 0 : Self.holdMilliseconds, body)
  }

  /// The server is responding to a request, which is no longer held.
  func endLimit(of request: AnyObject) {
    cancel(waiters[ObjectIdentifier(request)]?.limit)
    waiters[ObjectIdentifier(request)]?.limit = nil
  }

  /// Removes a request.
  func forget(_ request: AnyObject) {
    let waiter = waiters.removeValue(forKey: ObjectIdentifier(request))
    stops[ObjectIdentifier(request)] = nil
    cancel(waiter?.retry)
    cancel(waiter?.limit)
  }

  private func giveUp() {
    callAll(\.limit)
  }

  private func schedule(
    _ kind: WritableKeyPath<Waiter, DueCall?>, of key: ObjectIdentifier,
    afterMilliseconds time: Int, _ body: @escaping () -> Void
  ) {
    let number = loop.call(after: .milliseconds(time)) { [weak self] in
      self?.waiters[key]?[keyPath: kind] = nil
      body()
    }
    waiters[key, default: Waiter()][keyPath: kind] = DueCall(number: number, body: body)
  }

  private func cancel(_ call: DueCall?) {
    if let call { loop.cancelCall(call.number) }
  }

  /// Makes all pending calls of one kind now.
  private func callAll(_ kind: WritableKeyPath<Waiter, DueCall?>) {
    let due = waiters.values.compactMap { $0[keyPath: kind] }
    for key in waiters.keys { waiters[key]?[keyPath: kind] = nil }
    for call in due {
      cancel(call)
      call.body()
    }
  }
}

/// An attempt to connect to one address of a server, which passes its success on to the user.
private final class ConnectionAttempt: UpstreamUser {
  private weak var user: (any UpstreamUser)?
  private let onFailure: (any UpstreamUser) -> Void
  private let onSuccess: () -> Void
  private var connection: UpstreamConnection?
  /// Retains the attempt until it has ended.
  private var itself: ConnectionAttempt?

  init(
    _ user: any UpstreamUser, onFailure: @escaping (any UpstreamUser) -> Void,
    onSuccess: @escaping () -> Void
  ) {
    self.user = user
    self.onFailure = onFailure
    self.onSuccess = onSuccess
    itself = self
  }

  func begin(_ connection: UpstreamConnection) {
    self.connection = connection
  }

  func fail() {
    itself = nil
    connection = nil
    if let user { onFailure(user) }
  }

  func upstreamConnected(_ connection: UpstreamConnection) {
    itself = nil
    self.connection = nil
    onSuccess()
    guard let user else { return connection.stream.close() }
    connection.use(by: user)
    user.upstreamConnected(connection)
  }

  func upstreamFailed(_ connection: UpstreamConnection) { fail() }
  func upstreamConnectionRefused() {}
  func upstreamReceived(_ event: HTTPParser.Event) {}
  func upstreamReceived(raw bytes: [UInt8]) {}
  func upstreamDrained() {}
  func upstreamEnded() {}
  func upstreamLost(_ failure: ProxyExchange.Failure) { fail() }
}
