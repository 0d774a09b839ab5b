import SystemCalls

/// The server behind a page: its idle connections, its state, and the requests that wait for it.
final class Upstream {
  private static let mostIdle = 32
  /// The longest time for which a request is held while the server restarts.
  private static let hold = Duration.seconds(10)
  /// How long a server that is asked to stop may take to begin its last answers, if it is not known, and then be silent
  /// within one.
  private static let patience: [(ServerStop, after: Duration)] =
    [(.isSlow, after: .milliseconds(500)), (.isStuck, after: .seconds(3))]
  private static let (shortestPause, longestPause) = (40, 250)

  let address: ServerAddress
  let loop: SocketLoop
  /// The tasks whose processes were the last ones that were found there; empty if none is known.
  var tasks: Set<String> = []
  /// Whether those were processes of no task.
  var isForeign = false
  /// Whether the server is restarting.
  private(set) var isRestarting = false
  /// Whether it is known that a server which restarts is this one, so that nothing is asked of the one that stops.
  private var isCertain = false
  /// How often it has been restarted.
  private(set) var restarts = 0
  /// Whether the server has started and is not ready yet. Requests are held for longer then.
  var isGettingReady = false
  /// Whether the server cannot start until a failed task succeeds. No request is held then.
  var isHopeless = false {
    didSet { if isHopeless && !oldValue { forEach { $0.giveUp() } } }
  }

  /// Whether it is known that the server does not run, so that a connection to its socket would wait.
  var isDown = false {
    didSet { if isDown && !oldValue { forEach { $0.serverStops(.isSlow) } } }
  }

  /// Some may be closed.
  private var idle: [UpstreamConnection] = []
  /// The requests that are not answered completely. They learn of restarts.
  var requests: [ObjectIdentifier: ProxyResponder] = [:]
  /// The address of the last successful connection.
  private var reachedAddress: String?

  init(_ address: ServerAddress, on loop: SocketLoop) {
    self.address = address
    self.loop = loop
  }

  // MARK: - Connections

  /// Provides a connection: an idle one at once, or a new one.
  func connect(isFresh: Bool, for user: any UpstreamUser) {
    while !isFresh, let connection = idle.popLast() {
      guard connection.isClean() else {
        connection.stream.close()
        continue
      }
      connection.stream.clear(.pooled)
      connection.use(by: user)
      return user.upstreamConnected(connection)
    }
    loop.network.resolve(address.host) { [weak self, weak user] addresses in
      guard let self else { return }
      // The one that was reached last is the first.
      let first = addresses.filter { $0 == self.reachedAddress }
      ConnectionRace(
        to: first + addresses.filter { $0 != self.reachedAddress }, port: address.port, on: loop
      ) { [weak self, weak user] connection, address in
        // A server that stops is asked nothing.
        guard let self, let user, let connection, !(isRestarting && isCertain), !isDown else {
          connection?.stream.close()
          return user?.upstreamLost(.unreachable) ?? ()
        }
        reachedAddress = address
        connection.use(by: user)
        user.upstreamConnected(connection)
      }.tryNext()
    }
  }

  /// Takes back a connection. A server that stops gracefully would wait for one that is kept.
  func release(_ connection: UpstreamConnection, isReusable: Bool) {
    connection.use(by: nil)
    idle.removeAll { $0.stream.isClosed }
    if connection.isTunnel { return connection.stream.closeWhenSent() }
    if !isReusable || isRestarting || idle.count >= Self.mostIdle || !connection.isClean() {
      return connection.stream.close()
    }
    connection.stream.resume()
    connection.stream.start(.pooled)
    idle.append(connection)
  }

  /// Closes the connections that no request uses. A server that stops gracefully would wait for them.
  func closeIdle() {
    for connection in idle { connection.stream.close() }
    idle = []
  }

  // MARK: - Restarts

  /// The server is stopping or starting. The connections are ended here, as far as they can be: a server that stops
  /// gracefully waits for them, and the side that ends one first keeps its port in use for a while.
  ///
  /// - Parameter isCertain: Whether no other server may be meant.
  func serverRestarts(isCertain: Bool) {
    isRestarting = true
    self.isCertain = isCertain
    restarts += 1
    closeIdle()
    forEach { $0.serverStops(.begins) }
    if isCertain { forEach { $0.serverStops(.isSlow) } }
    end(Self.patience[...], restarts)
  }

  private func end(_ rest: ArraySlice<(ServerStop, after: Duration)>, _ number: Int) {
    guard !requests.isEmpty, let next = rest.first else { return }
    loop.call(after: next.after) { [weak self] in
      guard let self, isRestarting, restarts == number else { return }
      forEach { $0.serverStops(next.0) }
      end(rest.dropFirst(), number)
    }
  }

  /// The server has ended because it was asked to stop. Another one may start, also by hand.
  func serverStopped() {
    isCertain = false
    forEach { $0.serverMayAnswer() }
  }

  /// The server is ready, or has failed.
  func serverSettled() {
    isRestarting = false
    forEach { $0.serverMayAnswer() }
  }

  // MARK: - Requests

  private func forEach(_ body: (ProxyResponder) -> Void) {
    for request in Array(requests.values) { body(request) }
  }

  /// How long a request waits before it is sent again, in milliseconds, unless the server is ready before; `nil` for
  /// the longest time for which it is held at all.
  func pause(after former: Int?) -> Int? {
    if isRestarting && isCertain { return nil }
    return former.map { min($0 * 3 / 2, Self.longestPause) } ?? Self.shortestPause
  }

  /// The longest time for which a request is held. It begins again while the server gets ready.
  var longestHold: Duration { isHopeless ? .zero : Self.hold }
}

/// Attempts to connect to the addresses of a server. The next one is tried when one has failed, or has not answered
/// for a moment; the first to answer is used (RFC 8305).
private final class ConnectionRace {
  /// How long an address may take before the next one is tried beside it.
  private static let headStart = Duration.milliseconds(250)

  private var addresses: [String]
  private let port: UInt16
  private let loop: SocketLoop
  private var attempts: [UpstreamConnection] = []
  private var next: SocketLoop.Call?
  private var completion: ((UpstreamConnection?, String) -> Void)?

  /// - Parameter completion: Called with a connection and its address; with `nil` if all attempts have failed.
  init(
    to addresses: [String], port: UInt16, on loop: SocketLoop,
    _ completion: @escaping (UpstreamConnection?, String) -> Void
  ) {
    self.addresses = addresses
    self.port = port
    self.loop = loop
    self.completion = completion
  }

  func tryNext() {
    loop.cancelCall(&next)
    while !addresses.isEmpty {
      let address = addresses.removeFirst()
      guard let socket = loop.network.connect(to: address, port: port) else { continue }
      guard let stream = try? ByteStream(socket, isConnecting: true, on: loop) else {
        socket.close()
        continue
      }
      // The attempts retain the race until it has ended.
      let connection = UpstreamConnection(stream) { [self] in ended($0, $1, address) }
      attempts.append(connection)
      if !addresses.isEmpty {
        next = loop.call(after: Self.headStart) { [weak self] in self?.tryNext() }
      }
      return
    }
    if attempts.isEmpty { finish(nil, "") }
  }

  private func ended(_ connection: UpstreamConnection, _ isConnected: Bool, _ address: String) {
    attempts.removeAll { $0 === connection }
    if isConnected { finish(connection, address) } else { tryNext() }
  }

  private func finish(_ connection: UpstreamConnection?, _ address: String) {
    loop.cancelCall(&next)
    addresses = []
    let others = attempts
    attempts = []
    for other in others { other.giveUp() }
    completion?(connection, address)
    completion = nil
  }
}
