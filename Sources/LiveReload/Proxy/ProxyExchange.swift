/// A state machine that forwards a request and its response: inputs in, actions out; no socket, no
/// clock.
///
/// ```
///   waiting ─▶ connecting ─▶ sent ─▶ (holding) ─▶ responding ─▶ done
///      ▲            │          │         │             └────▶ tunnel, after 101
///      └── later ◀──┴──────────┴─────────┘ while the server restarts, for a request that is repeatable
/// ```
///
/// The head of a page is held until its body begins. A server that is killed in between would leave the
/// browser with a blank page that nothing reloads.
struct ProxyExchange: Sendable {
  enum Action: Sendable {
    /// Get a connection; a new one if `isFresh` is set. `connected` or `connectionLost` follows.
    case connect(isFresh: Bool)
    /// Call `retry` after a pause, or when the server is ready.
    case waitForServer
    case sendUpstream([UInt8])
    case respond(HTTPResponseHead)
    case sendBody([UInt8])
    case finishResponse
    /// Change the protocol; from then on, bytes of both sides are forwarded unchanged.
    case openTunnel(HTTPResponseHead)
    /// Respond that the server cannot be reached.
    case answerFailure(Failure)
    /// Close the client's connection, which truncates the response.
    case abort
    /// Return the connection, for reuse if `isReusable` is set.
    case release(isReusable: Bool)
    case setClientReading(Bool)
  }

  enum Failure: Hashable, Sendable {
    case unreachable
    case closedEarly
    case malformed(String)
    /// The server expects TLS.
    case expectsTLS
  }

  private enum Phase: Hashable, Sendable {
    case waiting
    case connecting
    case sent
    /// The head of a page has arrived, and nothing of its body.
    case holding
    case responding
    case tunnel
    case done
  }

  /// The most bytes of a body that are buffered until there is a connection.
  private static let mostKept = 256 * 1024

  /// The serialized head of the request.
  private let head: [UInt8]
  private let isChunked: Bool
  private let hasBody: Bool
  private let asksForUpgrade: Bool
  /// Whether the request can be sent again although the server may have read it.
  private let isRepeatable: Bool
  private var phase = Phase.waiting
  private var pendingBody: [UInt8] = []
  private var isRequestComplete = false
  private var isReused = false
  private var isTimeUp = false
  /// Whether the request was sent again after it had ended without a response.
  private var hasResent = false
  /// The reason for which the request waits.
  private var lastFailure = Failure.unreachable
  /// The head of a page, until its body begins.
  private var heldHead: HTTPResponseHead?
  private var keepsConnection = false
  private var isClientPaused = false

  /// - Parameter head: The serialized head for the server.
  init(_ request: HTTPRequestHead, head: [UInt8]) {
    self.head = head
    isChunked = request.framing == .chunked
    hasBody = request.framing != .none
    asksForUpgrade = request.asksForUpgrade
    let isSafe = ["GET", "HEAD", "OPTIONS"].contains(request.method)
    isRepeatable = isSafe && !hasBody && !asksForUpgrade
  }

  var isDone: Bool { phase == .done }

  /// Whether the client has received something of the response.
  var hasBegun: Bool { phase == .responding || phase == .tunnel }

  // MARK: - The client

  /// - Parameter isHeld: Whether the server is restarting.
  mutating func begin(isHeld: Bool) -> [Action] {
    if isHeld { return [.waitForServer] }
    return connect(isFresh: !isRepeatable)
  }

  private mutating func connect(isFresh: Bool) -> [Action] {
    phase = .connecting
    return [.connect(isFresh: isFresh)]
  }

  mutating func receiveBody(_ bytes: [UInt8]) -> [Action] {
    switch phase {
    case .tunnel: return [.sendUpstream(bytes)]
    case .sent, .holding, .responding: return [.sendUpstream(encoded(bytes))]
    case .waiting, .connecting:
      pendingBody += encoded(bytes)
      guard pendingBody.count > Self.mostKept, !isClientPaused else { return [] }
      isClientPaused = true
      return [.setClientReading(false)]
    case .done: return []
    }
  }

  mutating func receiveEnd(_ trailers: HTTPFields = HTTPFields()) -> [Action] {
    isRequestComplete = true
    guard isChunked else { return [] }
    let end = trailers.lastChunk
    if phase == .sent || phase == .responding { return [.sendUpstream(end)] }
    pendingBody += end
    return []
  }

  private func encoded(_ bytes: [UInt8]) -> [UInt8] {
    isChunked ? bytes.chunk : bytes
  }

  mutating func clientClosed() -> [Action] {
    let hadConnection = [.sent, .holding, .responding, .tunnel].contains(phase)
    phase = .done
    return hadConnection ? [.release(isReusable: false)] : []
  }

  // MARK: - The connection

  mutating func connected(isReused: Bool) -> [Action] {
    guard phase == .connecting else { return [.release(isReusable: true)] }
    phase = .sent
    self.isReused = isReused
    var actions: [Action] = [.sendUpstream(head + pendingBody)]
    pendingBody = []
    if isClientPaused {
      isClientPaused = false
      actions.append(.setClientReading(true))
    }
    return actions
  }

  /// The pause has ended, or the server is ready.
  mutating func retry() -> [Action] {
    phase == .waiting ? connect(isFresh: true) : []
  }

  /// The request is held for the next server as long as for this one.
  mutating func holdAgain() { isTimeUp = false }

  /// The request has been held for the longest permitted time.
  mutating func timeIsUp() -> [Action] {
    isTimeUp = true
    return phase == .waiting ? fail(lastFailure) : []
  }

  private mutating func waitOrFail(_ failure: Failure) -> [Action] {
    if isTimeUp { return fail(failure) }
    lastFailure = failure
    phase = .waiting
    return [.waitForServer]
  }

  private mutating func repeatOrFail(_ failure: Failure, isRestarting: Bool) -> [Action] {
    guard isRepeatable else { return fail(failure) }
    if isRestarting && failure == .closedEarly { return waitOrFail(failure) }
    if hasResent { return fail(failure) }
    hasResent = true
    // The server may have closed an idle connection at the same moment, or have sent more than the
    // response to the request before.
    if isReused { return connect(isFresh: true) }
    // A server that is being restarted by something else than watchrun refuses connections next.
    return failure == .closedEarly ? waitOrFail(failure) : fail(failure)
  }

  private mutating func fail(_ failure: Failure) -> [Action] {
    phase = .done
    return [.answerFailure(failure)]
  }

  // MARK: - The response

  /// - Parameter isPage: Whether the response is a document that a browser shows.
  mutating func receive(_ head: HTTPResponseHead, isPage: Bool = false) -> [Action] {
    guard phase == .sent else { return [] }
    if head.status == 101 {
      guard asksForUpgrade else {
        return connectionLost(.malformed("it changes the protocol without being asked to"))
      }
      phase = .tunnel
      return [.openTunnel(head)]
    }
    // A server that has not read a body, or the bytes of another protocol, would take them for the
    // head of the next request.
    keepsConnection = head.keepsAlive && !hasBody && !asksForUpgrade
    if isPage && isRepeatable && head.framing != .none {
      phase = .holding
      heldHead = head
      return []
    }
    phase = .responding
    return [.respond(head)]
  }

  mutating func receiveResponseBody(_ bytes: [UInt8]) -> [Action] {
    switch phase {
    case .holding: releaseHead() + [.sendBody(bytes)]
    case .responding, .tunnel: [.sendBody(bytes)]
    default: []
    }
  }

  mutating func receiveResponseEnd() -> [Action] {
    let actions = releaseHead()
    guard phase == .responding else { return [] }
    phase = .done
    return actions + [
      .release(isReusable: keepsConnection && isRequestComplete), .finishResponse,
    ]
  }

  private mutating func releaseHead() -> [Action] {
    guard phase == .holding, let head = heldHead else { return [] }
    phase = .responding
    heldHead = nil
    return [.respond(head)]
  }

  /// The server is asked to stop.
  ///
  /// - Parameters:
  ///   - isEndless: Whether the response is an event stream.
  ///   - isStuck: Whether the response does not go on.
  mutating func serverStops(_ moment: ServerStop, isEndless: Bool, isStuck: Bool) -> [Action] {
    switch phase {
    case .tunnel: return endResponse()
    case .responding where isEndless: return endResponse()
    case .responding where moment == .isStuck && isStuck: return connectionLost()
    case .sent where moment == .isSlow && isRepeatable, .holding where moment == .isStuck:
      isTimeUp = false
      heldHead = nil
      return [.release(isReusable: false)] + waitOrFail(.closedEarly)
    case .waiting, .connecting, .sent, .holding, .responding, .done:
      return []
    }
  }

  /// The server cannot be reached, has closed the connection, or sent an invalid response.
  ///
  /// - Parameter isRestarting: Whether the server is being restarted, which ends its requests.
  mutating func connectionLost(
    _ failure: Failure = .closedEarly, isRestarting: Bool = false
  ) -> [Action] {
    switch phase {
    case .sent, .holding:
      heldHead = nil
      return [.release(isReusable: false)] + repeatOrFail(failure, isRestarting: isRestarting)
    case .responding:
      phase = .done
      return [.release(isReusable: false), .abort]
    case .tunnel:
      return endResponse()
    case .connecting:
      return waitOrFail(failure)
    case .waiting, .done:
      return []
    }
  }

  private mutating func endResponse() -> [Action] {
    phase = .done
    return [.release(isReusable: false), .finishResponse]
  }
}
