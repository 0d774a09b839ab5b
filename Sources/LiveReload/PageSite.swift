import SystemCalls

/// A served page: dispatches its requests, and notifies its clients of changes.
final class PageSite {
  let page: Page
  /// The state that all pages share.
  let core: ServerCore
  /// Identifies the page as long as it is served like this: the revisions of one that replaces it begin anew.
  let sessionID = ServerCore.randomText()
  let access: AccessPolicy
  private let files: FileResponder?
  let headers: PageHeaders
  private let rules: [ProxyRule]
  /// The servers of the rules.
  private(set) var servers: [ServerAddress: Upstream] = [:]
  /// What notices that another process serves, by port.
  private(set) var monitors: [UInt16: ServerMonitor] = [:]
  /// What requests documents again to compare them.
  var readers: [ServerAddress: DocumentReader] = [:]
  var session: ReloadSession
  var contents = ContentMemory()
  private static let mostWorkerFiles = 1_000
  /// The files that workers have fetched, of which the script in a page knows nothing.
  private(set) var workerFiles: Set<Path> = []
  private var listeners: [Listener] = []
  /// The port at which it listens.
  private(set) var port: UInt16 = 0
  /// The address of the page for this machine.
  var url: String { "http://localhost:\(port)/" }
  private(set) var connections: [ObjectIdentifier: ServerConnection] = [:]
  var streams: [EventStream] { connections.values.compactMap { $0.exchange as? EventStream } }
  var sockets: [LiveReloadSocket] {
    connections.values.compactMap { $0.exchange as? LiveReloadSocket }
  }
  private var hasWarned = false
  var hasFoundLoop = false
  var consoleLimit = ConsoleLimit()
  /// The latest lines of the console, for the status.
  var consoleLines: [String] = []
  /// The dependencies that have failed, with the messages that show their failures.
  var failures: [(task: String, message: [UInt8])] = []

  init(_ page: Page, in core: ServerCore) {
    self.page = page
    self.core = core
    access = AccessPolicy(hosts: page.hosts)
    headers = PageHeaders(page.headers, nonce: core.nonce)
    rules = page.rules
    switch page.source {
    case .directory(let path):
      files = FileResponder(path, of: page)
    case .upstream:
      files = nil
    }
    session = ReloadSession(dependencies: page.dependencies, loadsMayWrite: !rules.isEmpty)
    for address in Set(rules.map(\.server)) {
      servers[address] = Upstream(address, on: core.loop)
      if address.isLocal && monitors[address.port] == nil {
        monitors[address.port] = ServerMonitor(port: address.port, on: core.loop) { [weak self] in
          self?.note($0, atPort: address.port)
        }
      }
    }
    if headers.forbidScripts {
      warnOfMissingScript(in: "/", because: ContentSecurityPolicy.refusal)
    }
  }

  /// Takes over what is known of the dependencies.
  ///
  /// - Parameter former: A page of the same name that this one replaces.
  func takeOver(from former: PageSite?) {
    failures = (former?.failures ?? []).filter {
      page.dependencies.contains($0.task) || $0.task == PageFailure.task
    }
    for task in core.status.tasks where task.state == .failed {
      let name = task.description.name
      // One that was not ready in time runs.
      noteDown(name, task.status != nil)
      if !page.dependencies.contains(name) || failures.contains(where: { $0.task == name }) {
        continue
      }
      let outcome = task.status == nil ? Activity.Outcome.notReady : .failed
      let message = core.failureMessage(of: name, outcome, task.status, task.duration ?? .zero)
      failures.append((name, message))
    }
    for failure in failures { session.ended(failure.task, hasFailed: true) }
    _ = session.unsettled(core.status.unsettled, at: core.milliseconds)
    for (address, server) in servers {
      if let known = former?.servers[address] { server.isDown = known.isDown }
    }
    noteTasks()
  }

  /// The monitor of a server on this machine. Its addresses may have several names, but one port.
  func monitor(of server: Upstream) -> ServerMonitor? {
    server.address.isLocal ? monitors[server.address.port] : nil
  }

  /// Starts to listen. Returns the addresses of the page, the one for this machine first.
  ///
  /// - Parameter former: The port of the page that this one replaces.
  func listen(preferring former: UInt16?) throws(PageError) -> [String] {
    (listeners, port) = try Listener.open(for: self, preferring: former)
    return [url] + Listener.urls(for: page.hosts, port: port)
  }

  func serve(_ stream: ByteStream, from peer: String) {
    let connection = ServerConnection(stream, from: peer, of: self)
    connections[ObjectIdentifier(connection)] = connection
    core.admit(connection)
  }

  /// Stops to listen, and closes all connections.
  func close() {
    for listener in listeners { listener.close() }
    for monitor in monitors.values { monitor.stop() }
    stopReading()
    for socket in sockets { socket.close(WebSocketFrame.CloseCode.goingAway) }
    for connection in connections.values { connection.stream.close() }
    connections = [:]
    for server in servers.values { server.closeIdle() }
  }
}

// MARK: - Requests

extension PageSite {
  func connectionClosed(_ connection: ServerConnection) {
    connections[ObjectIdentifier(connection)] = nil
  }

  /// Starts answering a request, at once or later.
  ///
  /// - Returns: The exchange; `nil` if the response has been written completely.
  func handle(
    _ request: HTTPRequestHead, on connection: ServerConnection
  ) -> (any Exchange)? {
    guard access.allows(host: request.host) else {
      let host = request.host.printable
      let advice = core.hostAdvice(host).map { "; \($0)" } ?? ""
      return connection.reply(.text(403, "The host '\(host)' is not allowed\(advice)"))
    }
    if Self.isForWatchrun(request) { return answer(request, on: connection) }
    if request.asksForUpgrade {
      guard isSocketAllowed(request) else {
        return connection.reply(.text(403, "The origin of the WebSocket is not allowed"))
      }
      if request.path.elementsEqual("/livereload".utf8) {
        return LiveReloadSocket(request, on: connection)
          ?? connection.reply(.text(400, "The WebSocket handshake is invalid"))
      }
    }
    let rule = rules.first { $0.matches(request.path) }
    if let server = rule.flatMap({ servers[$0.server] }) {
      session.requested(at: core.milliseconds)
      let responder = ProxyResponder(request, on: connection, to: server, for: self)
      responder.begin()
      return responder
    }
    guard let files else { return nil }
    noteWorker(request)
    var response = files.respond(to: request, script: scriptTag(nonce: nil, revision: revision))
    headers.add(to: &response.fields)
    return connection.reply(response)
  }

  /// Remembers a file that a script fetches which is not in a page: the address of a worker is that of a script, or
  /// none.
  private func noteWorker(_ request: HTTPRequestHead) {
    guard request.fields.first("sec-fetch-dest")?.equalsIgnoringCase("empty") == true,
      case .directory(let root) = page.source, workerFiles.count < Self.mostWorkerFiles,
      let path = RequestPath(target: request.path)
    else { return }
    if let referer = request.fields.first("referer")?.prefix(while: { $0 != UInt8(ascii: "?") }),
      !MediaType.of(referer, isUTF8: false).hasPrefix("text/javascript")
    {
      return
    }
    workerFiles.insert(path.file(in: root))
  }

  private func isSocketAllowed(_ request: HTTPRequestHead) -> Bool {
    let origins = request.fields.all("origin")
    guard origins.count <= 1 else { return false }
    return access.allowsSocket(origin: origins.first.map { Array($0) })
  }
}

// MARK: - The script

extension PageSite {
  /// The revision of a document that is requested now.
  var revision: Int { session.revision }

  /// The tag of the client script in a document of a revision.
  func scriptTag(nonce: String?, revision: Int) -> ScriptTag {
    ScriptTag(
      session: sessionID, revision: revision, nonce: nonce ?? headers.nonce,
      hasConsole: page.reportsConsole)
  }

  /// A server has answered a request.
  func answered(_ upstream: Upstream) {
    if !upstream.isRestarting { monitor(of: upstream)?.answered() }
  }

  /// Whether `delivered` must be called for a document of a revision.
  func awaitsDocument(of revision: Int, from upstream: Upstream) -> Bool {
    session.restarts.awaitsDocument(of: revision, from: upstream.address)
      && monitor(of: upstream)?.isFresh != true
  }

  /// A document was delivered to a client.
  func delivered(
    _ body: BodyFingerprint, of request: HTTPRequestHead, from upstream: Upstream, to peer: String
  ) {
    guard let decision = session.delivered(body, from: upstream.address, at: core.milliseconds)
    else { return }
    readers[upstream.address] = DocumentReader(request, of: upstream, for: peer)
    perform(decision)
  }

  /// Reports once that the script cannot be added to the document at a path.
  func warnOfMissingScript(in path: Path, because reason: String) {
    if hasWarned { return }
    hasWarned = true
    core.report(.warning(.scriptNotAdded(to: page.name, at: path, because: reason)))
  }

  /// Builds the page that is shown while a server does not respond, with the end of the output of
  /// the tasks. It reloads itself.
  func failurePage(_ failure: ProxyExchange.Failure, of upstream: Upstream) -> [UInt8] {
    let address = upstream.address.authority.printable.escapedForMarkup()
    let reason =
      switch failure {
      case .unreachable: "No server accepts connections at <code>\(address)</code>."
      case .closedEarly:
        "The server at <code>\(address)</code> closed the connection without an answer."
      case .expectsTLS:
        "The server at <code>\(address)</code> expects TLS (https), which a proxy does not speak here: "
          + "start the server without TLS, or name the port at which it speaks plain HTTP."
      case .malformed(let reason):
        "The server at <code>\(address)</code> sent an invalid response: "
          + reason.escapedForMarkup() + "."
      }
    let outputs = core.status.tasks.filter {
      page.dependencies.contains($0.description.name) && !$0.lines.isEmpty
    }.map { task in
      let lines = task.lines.suffix(60).map { String(decoding: $0.plainText, as: UTF8.self) }
      let name = task.description.name
      let output =
        "<h2>\(task.description.title.printable.escapedForMarkup())</h2>"
        + "<pre>\(lines.joined(separator: "\n").escapedForMarkup())</pre>"
      // The overlay shows the same.
      let isInOverlay = page.showsOverlay && failures.contains { $0.task == name }
      return isInOverlay ? "<noscript>\(output)</noscript>" : output
    }
    return HTMLText.page(
      "The server does not respond",
      "<p>\(reason) This page reloads itself.</p>" + outputs.joined()
        + (page.dependencies.isEmpty
          ? "" : "<p><a href=\"/__watchrun/\">All tasks and their output</a></p>")
        // After a failed task, its success reloads the page, or its next start.
        + (upstream.isHopeless
          ? "<meta name=\"watchrun\" content=\"wait\">"
          : "<meta http-equiv=\"refresh\" content=\"1\">"),
      scriptTag(nonce: nil, revision: revision).html)
  }
}
