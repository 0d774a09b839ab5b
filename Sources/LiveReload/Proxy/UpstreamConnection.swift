import SystemCalls

/// The user of a connection to the server behind a page.
protocol UpstreamUser: AnyObject {
  func upstreamConnected(_ connection: UpstreamConnection)
  /// An attempt to connect has failed; another address may be tried.
  func upstreamFailed(_ connection: UpstreamConnection)
  /// Connecting has failed for all addresses of the server.
  func upstreamConnectionRefused()
  func upstreamReceived(_ event: HTTPParser.Event)
  /// Bytes after a change of protocol.
  func upstreamReceived(raw bytes: [UInt8])
  func upstreamDrained()
  func upstreamLost(_ failure: ProxyExchange.Failure)
}

/// A connection to the server behind a page, used by one request at a time.
final class UpstreamConnection: ByteStreamOwner {
  private static let connectSeconds = 5

  let stream: ByteStream
  /// Called when an idle connection is closed.
  var onIdleClose: ((UpstreamConnection) -> Void)?
  private weak var user: (any UpstreamUser)?
  private var parser = HTTPParser(.responses)
  private var isConnected = false
  private var isTunnel = false
  /// Whether an earlier request was answered on it.
  private(set) var isReused = false

  init(_ stream: ByteStream, for user: any UpstreamUser) {
    self.stream = stream
    self.user = user
    stream.setOwner(self)
    stream.setDeadline(seconds: Self.connectSeconds)
  }

  /// Assigns the connection to another request.
  func use(by user: (any UpstreamUser)?) {
    self.user = user
    if user == nil { isReused = true }
  }

  /// Sets the method of the request for the next response.
  func expectResponse(to method: String) {
    parser.requestMethod = method
  }

  func openTunnel() -> [UInt8] {
    isTunnel = true
    return parser.takeRest()
  }

  func drained() {
    if !isConnected {
      isConnected = true
      stream.setDeadline(seconds: nil)
      user?.upstreamConnected(self)
    } else {
      user?.upstreamDrained()
    }
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    if isTunnel {
      user?.upstreamReceived(raw: Array(bytes))
      return
    }
    parser.append(bytes)
    do throws(HTTPError) {
      while !stream.isClosed, !isTunnel, let event = try parser.next() {
        guard let user else { return stream.close() }
        user.upstreamReceived(event)
      }
    } catch {
      user?.upstreamLost(.malformed(error.reason))
      stream.close()
    }
  }

  func receivedEnd() {
    if !isTunnel, let event = try? parser.finish() { user?.upstreamReceived(event) }
    stream.close()
  }

  func closed() {
    let user = user
    self.user = nil
    if !isConnected {
      user?.upstreamFailed(self)
    } else {
      user?.upstreamLost(.closedEarly)
      onIdleClose?(self)
    }
  }
}
