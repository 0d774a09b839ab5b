import SystemCalls

/// Forwards one request to the server behind a page, and its response to the client.
final class ProxyResponder: Exchange, UpstreamUser {
  private let request: HTTPRequestHead
  private let connection: ServerConnection
  private let upstream: Upstream
  private weak var site: PageSite?
  private var exchange: ProxyExchange
  private var server: UpstreamConnection?
  private var injector: ScriptInjector?
  /// The fields after the response's body.
  private var trailers = HTTPFields()
  /// The body of a document so far, without the script, if the page awaits it.
  private var fingerprint: BodyFingerprint?
  /// The revision at the time at which the server was asked.
  private var revision = 0
  /// How often the server had been restarted then.
  private var restartsBefore = 0
  /// The number of restarts when the request was held again.
  private var heldAgain: Int?
  /// Whether the response is an event stream. A client that closes its sending side does not wait for one.
  private var isEndless = false
  /// Whether nothing of the response has come since the server was asked to stop, or was reminded.
  private var isStuck = false
  /// The next attempt while the server starts, and the pause before it, in milliseconds.
  private var retry: SocketLoop.Call?
  private var pause: Int?
  /// The end of the time for which the request is held.
  private var limit: SocketLoop.Call?
  /// The next probe of a client that has closed its sending side, and the pause before it.
  private var probe: SocketLoop.Call?
  private static let patience = Duration.seconds(3)
  /// The queue of actions. An action that results from performing another one is performed after it.
  private var actions: [ProxyExchange.Action] = []
  private var isPerforming = false

  init(
    _ request: HTTPRequestHead, on connection: ServerConnection, to upstream: Upstream,
    for site: PageSite
  ) {
    self.request = request
    self.connection = connection
    self.upstream = upstream
    self.site = site
    exchange = ProxyExchange(
      request, head: ProxyHeads.request(request, to: upstream.address, from: connection.peer))
  }

  func begin() {
    limitHold()
    upstream.requests[ObjectIdentifier(self)] = self
    let isHeld = upstream.isRestarting
    step { $0.begin(isHeld: isHeld) }
  }

  private func limitHold() {
    upstream.loop.cancelCall(&limit)
    limit = upstream.loop.call(after: upstream.longestHold) { [weak self] in
      guard let self else { return }
      if upstream.isGettingReady && !upstream.isHopeless { limitHold() } else { giveUp() }
    }
  }

  /// The server cannot start, or has not in time.
  func giveUp() {
    if limit == nil { return }
    upstream.loop.cancelCall(&limit)
    step { $0.timeIsUp() }
  }

  private func waitForServer() {
    let next = upstream.pause(after: pause)
    pause = next ?? pause
    let time = next.map { Duration.milliseconds($0) } ?? upstream.longestHold
    retry = upstream.loop.call(after: time) { [weak self] in self?.serverMayAnswer() }
  }

  /// The server may answer now.
  func serverMayAnswer() {
    if retry == nil { return }
    upstream.loop.cancelCall(&retry)
    step { $0.retry() }
  }

  private func step(_ input: (inout ProxyExchange) -> [ProxyExchange.Action]) {
    actions += input(&exchange)
    if isPerforming { return }
    isPerforming = true
    while !actions.isEmpty { perform(actions.removeFirst()) }
    isPerforming = false
    if exchange.isDone { end() }
  }

  private func end() {
    upstream.requests[ObjectIdentifier(self)] = nil
    upstream.loop.cancelCall(&retry)
    upstream.loop.cancelCall(&limit)
    upstream.loop.cancelCall(&probe)
  }

  private func perform(_ action: ProxyExchange.Action) {
    switch action {
    case .connect(let isFresh):
      upstream.connect(isFresh: isFresh, for: self)
    case .waitForServer:
      waitForServer()
    case .sendUpstream(let bytes):
      server?.stream.write(bytes)
      if server?.stream.isFull == true { connection.stream.pause() }
    case .respond(let head):
      respond(head)
    case .sendBody(let bytes):
      send(bytes)
    case .finishResponse:
      finish()
    case .openTunnel(let head):
      openTunnel(head)
    case .answerFailure(let failure):
      answer(failure)
    case .abort:
      connection.stream.close()
    case .release(let isReusable):
      if let server { upstream.release(server, isReusable: isReusable) }
      server = nil
    case .setClientReading(let isReading):
      if isReading { connection.stream.resume() } else { connection.stream.pause() }
    }
  }

  // MARK: - The client

  func receiveBody(_ bytes: [UInt8]) { step { $0.receiveBody(bytes) } }
  func receiveEnd(_ trailers: HTTPFields) {
    step { $0.receiveEnd(ProxyHeads.trailers(trailers)) }
  }
  func drained() { server?.stream.resume() }
  func clientEnded() {
    if let server, server.isTunnel { return server.stream.endWhenSent() }
    // Browsers never close only one side.
    if isEndless || request.fields.first("sec-fetch-mode") != nil {
      connection.stream.close()
    } else {
      connection.stream.probePeer()
      probeClient()
    }
  }

  /// Probes a client that waits for an answer with interim ones, which fail if it has gone. Later, and in HTTP/1.0, the
  /// kernel finds that out.
  private func probeClient() {
    probe = upstream.loop.call(after: Self.patience) { [weak self] in
      guard let self, !exchange.hasBegun else { return }
      connection.sendInterim(100, Array("Continue".utf8))
      probeClient()
    }
  }

  func clientClosed() { step { $0.clientClosed() } }

  // MARK: - The server

  func upstreamConnected(_ server: UpstreamConnection) {
    let isReused = server.isReused
    self.server = server
    revision = site?.revision ?? 0
    restartsBefore = upstream.restarts
    server.expectResponse(to: request.method)
    step { $0.connected(isReused: isReused) }
  }

  func upstreamReceived(_ event: HTTPParser.Event) {
    switch event {
    case .response(let head):
      let isPage = ProxyHeads.scriptScope(request, head) != nil
      step { $0.receive(head, isPage: isPage) }
    case .body(let bytes): step { $0.receiveResponseBody(bytes) }
    case .interim(let head):
      connection.sendInterim(
        head.status, head.reason,
        ProxyHeads.response(head, to: request, from: upstream.address))
    case .end(let trailers):
      self.trailers = ProxyHeads.trailers(trailers)
      step { $0.receiveResponseEnd() }
    case .request: break
    }
  }

  func upstreamDrained() { connection.stream.resume() }

  func upstreamEnded() { connection.stream.endWhenSent() }

  func upstreamLost(_ failure: ProxyExchange.Failure) {
    // The server may have started again before the end of the connection is noticed.
    let isRestarting = upstream.isRestarting || upstream.restarts > restartsBefore
    // Once for each restart: a server that stops may close each connection.
    let isHeldAgain = isRestarting && failure == .closedEarly && heldAgain != upstream.restarts
    if !isHeldAgain {
      return step { $0.connectionLost(failure, isRestarting: isRestarting) }
    }
    heldAgain = upstream.restarts
    stepAway {
      $0.holdAgain()
      return $0.connectionLost(failure, isRestarting: isRestarting)
    }
  }

  /// The server is asked to stop, and waits for its requests.
  func serverStops(_ moment: ServerStop) {
    stepAway { [isEndless, isStuck] in
      $0.serverStops(moment, isEndless: isEndless, isStuck: isStuck)
    }
    isStuck = true
  }

  /// Takes a step after which the request may wait for the next server, as long as a new one.
  private func stepAway(_ body: (inout ProxyExchange) -> [ProxyExchange.Action]) {
    let hadServer = server != nil
    step(body)
    if hadServer && server == nil && !exchange.isDone { limitHold() }
  }

  // MARK: - The response

  private func respond(_ head: HTTPResponseHead) {
    // From here on there is no deadline.
    upstream.loop.cancelCall(&limit)
    isStuck = false
    site?.answered(upstream)
    if let type = head.fields.first("content-type") {
      isEndless = type.prefix(17).equalsIgnoringCase("text/event-stream")
    }
    var fields = ProxyHeads.response(head, to: request, from: upstream.address)
    site?.headers.add(to: &fields)
    prepareInjector(for: head, &fields)
    var length: Int?
    switch head.framing {
    case .chunked, .untilClose: break
    // Only the answer to HEAD and 304 say how long a body would be.
    case .none where request.method != "HEAD" && head.status != 304: break
    case .none, .length: length = try? HTTPHeadReader.contentLength(head.fields, ofResponse: true)
    }
    if injector != nil { length = nil }
    connection.begin(
      head.status, reason: head.reason, fields, length: length, hasBody: head.framing != .none)
  }

  /// Prepares adding the script if the response is a document.
  private func prepareInjector(for head: HTTPResponseHead, _ fields: inout HTTPFields) {
    guard let site, let scope = ProxyHeads.scriptScope(request, head),
      let type = head.fields.first("content-type")
    else { return }
    let coding = head.fields.first("content-encoding")
    if coding?.equalsIgnoringCase("identity") == false || !ProxyHeads.codings(of: head).isEmpty {
      return warnOfMissingScript("it is compressed, though it was asked not to be")
    }
    var nonce: String?
    let policies = fields.all("content-security-policy").map(Array.init)
    if !policies.isEmpty {
      switch ContentSecurityPolicy.admitClient(values: policies, nonce: ServerCore.randomText()) {
      case .forbidden:
        return warnOfMissingScript(ContentSecurityPolicy.refusal)
      case .allowed(let values, let admittedNonce):
        fields.remove("content-security-policy")
        for value in values { fields.append("Content-Security-Policy", value) }
        nonce = admittedNonce
      }
    }
    injector = ScriptInjector(
      site.scriptTag(nonce: nonce, revision: revision), contentType: type, scope: scope)
    if request.method == "GET" && site.awaitsDocument(of: revision, from: upstream) {
      fingerprint = BodyFingerprint()
    }
    // These describe the original document, not that with the script.
    for name in ["etag", "last-modified", "accept-ranges", "content-md5", "digest"] {
      fields.remove(name)
    }
  }

  private func warnOfMissingScript(_ reason: String) {
    site?.warnOfMissingScript(in: Path(bytes: Array(request.path)), because: reason)
  }

  private func send(_ bytes: [UInt8]) {
    isStuck = false
    fingerprint?.add(bytes)
    if var injector {
      self.injector = nil
      let rewritten = injector.process(bytes)
      self.injector = injector
      connection.write(rewritten)
    } else {
      connection.write(bytes)
    }
    if connection.isFull { server?.stream.pause() }
  }

  private func finish() {
    if var injector {
      self.injector = nil
      connection.write(injector.finish())
    }
    connection.finish(trailers)
    if let fingerprint {
      site?.delivered(fingerprint, of: request, from: upstream, to: connection.peer)
    }
  }

  private func openTunnel(_ head: HTTPResponseHead) {
    connection.upgrade(head.fields.written(status: 101, head.reason))
    let early = connection.takeEarlyBytes()
    if !early.isEmpty { server?.stream.write(early) }
    if let rest = server?.openTunnel(), !rest.isEmpty { connection.write(rest) }
  }

  private func answer(_ failure: ProxyExchange.Failure) {
    let page = site?.failurePage(failure, of: upstream) ?? []
    var response = HTTPResponse(502, page, type: "text/html; charset=utf-8", isKept: false)
    site?.headers.add(to: &response.fields)
    connection.respond(response)
  }
}
