import SystemCalls

/// Which requests to a server are ended when it is asked to stop: one that stops gracefully waits until all
/// connections are at rest.
enum ServerStop {
  /// What has no end by itself: a tunnel, and an event stream.
  case begins
  /// A request without an answer, which is sent again to the server that starts; at once if that is certain.
  case isSlow
  /// An answer that has not gone on since `isSlow`: the server is silent, or the client takes nothing.
  case isStuck
}

/// The user of a connection to the server behind a page.
protocol UpstreamUser: AnyObject {
  func upstreamConnected(_ connection: UpstreamConnection)
  /// Bytes after a change of protocol are a body.
  func upstreamReceived(_ event: HTTPParser.Event)
  func upstreamDrained()
  /// The server has ended its side of a tunnel.
  func upstreamEnded()
  /// The connection has ended, or connecting has failed for all addresses of the server.
  func upstreamLost(_ failure: ProxyExchange.Failure)
}

extension UpstreamUser {
  func upstreamDrained() {}
  func upstreamEnded() {}
}

/// A connection to the server behind a page, used by one request at a time.
///
/// Bytes that belong to no response close it: the next request would receive them as its response.
final class UpstreamConnection: ByteStreamOwner {
  let stream: ByteStream
  private weak var user: (any UpstreamUser)?
  private var parser = HTTPParser(.responses)
  /// Called once with whether the connection is made.
  private var onConnect: ((UpstreamConnection, _ isConnected: Bool) -> Void)?
  private(set) var isTunnel = false
  /// Whether an earlier request was answered on it.
  private(set) var isReused = false

  init(
    _ stream: ByteStream, onConnect: @escaping (UpstreamConnection, _ isConnected: Bool) -> Void
  ) {
    self.stream = stream
    self.onConnect = onConnect
    stream.setOwner(self)
  }

  /// Ends the attempt to connect without a call.
  func giveUp() {
    onConnect = nil
    stream.close()
  }

  private func endAttempt(isConnected: Bool) -> Bool {
    guard let onConnect else { return false }
    self.onConnect = nil
    onConnect(self, isConnected)
    return true
  }

  /// Assigns the connection to another request.
  func use(by user: (any UpstreamUser)?) {
    self.user = user
    if user == nil { isReused = true }
  }

  /// Whether nothing has arrived since the last response. Looks once more, because the event of
  /// what has arrived may still be due.
  func isClean() -> Bool { !parser.isInMessage && stream.isQuiet() }

  /// Sets the method of the request for the next response.
  func expectResponse(to method: String) {
    parser.requestMethod = method
  }

  func openTunnel() -> [UInt8] {
    isTunnel = true
    return parser.takeRest()
  }

  func drained() {
    if !endAttempt(isConnected: true) { user?.upstreamDrained() }
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    if isTunnel { return user?.upstreamReceived(.body(Array(bytes))) ?? () }
    if user == nil { return stream.close() }
    parser.append(bytes)
    if parser.isAtAlertOfTLS {
      user?.upstreamLost(.expectsTLS)
      return stream.close()
    }
    do throws(HTTPError) {
      while let user, !stream.isClosed, !isTunnel, let event = try parser.next() {
        user.upstreamReceived(event)
      }
    } catch {
      user?.upstreamLost(.malformed(error.reason))
      stream.close()
    }
  }

  func receivedEnd() {
    if isTunnel, let user { return user.upstreamEnded() }
    if let event = try? parser.finish() { user?.upstreamReceived(event) }
    stream.close()
  }

  func closed() {
    let user = user
    self.user = nil
    if endAttempt(isConnected: false) { return }
    user?.upstreamLost(.closedEarly)
  }
}
