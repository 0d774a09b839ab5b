import SystemCalls

/// One page that is served: decides what answers each request, and tells the clients of changes.
final class PageSite {
  let page: Page
  /// What all pages share.
  private let core: ServerCore
  private let access: AccessPolicy
  private let files: FileResponder?
  private let upstream: Upstream?
  private var session: ReloadSession
  private var contents = ContentMemory()
  private var streams: [ObjectIdentifier: EventStream] = [:]
  private var sockets: [ObjectIdentifier: LiveReloadSocket] = [:]
  private var connections: [ObjectIdentifier: ServerConnection] = [:]
  private var revision = 1
  private var hasWarned = false
  private var hasFoundLoop = false
  /// The dependencies whose failure is shown, with the message that shows it.
  private var failures: [(task: String, message: [UInt8])] = []

  init(_ page: Page, in core: ServerCore) {
    self.page = page
    self.core = core
    access = AccessPolicy(hosts: page.hosts)
    session = ReloadSession(dependencies: page.dependencies, watched: page.watched)
    switch page.source {
    case .directory(let path):
      files = FileResponder(
        path,
        FileResponder.Options(
          fallback: page.fallback, listsDirectories: page.listsDirectories,
          servesDotFiles: page.servesDotFiles, followsLinks: page.followsLinks))
      upstream = nil
    case .upstream(let address):
      files = nil
      upstream = Upstream(address, on: core.loop)
    }
  }

  /// Serves a connection.
  func take(_ stream: ByteStream, from peer: String) {
    let connection = ServerConnection(stream, from: peer, handler: self)
    connections[ObjectIdentifier(connection)] = connection
  }

  /// Closes all connections.
  func close() {
    for connection in connections.values { connection.stream.close() }
    connections = [:]
  }
}

// MARK: - Requests

extension PageSite: RequestHandler {
  private static let prefix = Array("/__watchrun/".utf8)

  func connectionClosed(_ connection: ServerConnection) {
    connections[ObjectIdentifier(connection)] = nil
  }

  func handle(
    _ request: HTTPRequestHead, on connection: ServerConnection
  ) -> (any Exchange)? {
    guard access.allows(host: request.host) else {
      let host = Path(bytes: request.host)
      connection.respond(
        .text(403, "The host '\(host)' is not allowed; to allow it, pass --host \(host)"))
      return nil
    }
    if request.path.starts(with: Self.prefix) { return handleOwn(request, on: connection) }
    if request.path.elementsEqual("/livereload.js".utf8) {
      send(script: PackageResources.client_min_js, on: connection)
      return nil
    }
    if request.asksForUpgrade {
      guard isSocketAllowed(request) else {
        connection.respond(.text(403, "The origin of the WebSocket is not allowed"))
        return nil
      }
      if request.path.elementsEqual("/livereload".utf8) { return openSocket(request, connection) }
    }
    if let files {
      connection.respond(files.respond(to: request, script: script))
      return nil
    }
    guard let upstream else { return nil }
    let responder = ProxyResponder(request, on: connection, to: upstream, for: self)
    responder.begin()
    return responder
  }

  private func isSocketAllowed(_ request: HTTPRequestHead) -> Bool {
    let origins = request.fields.all("origin")
    guard origins.count <= 1 else { return false }
    return access.allowsSocket(origin: origins.first.map { Array($0) })
  }

  private func openSocket(
    _ request: HTTPRequestHead, _ connection: ServerConnection
  ) -> (any Exchange)? {
    guard
      let socket = LiveReloadSocket(
        request, on: connection,
        onClose: { [weak self] in self?.sockets[ObjectIdentifier($0)] = nil })
    else {
      connection.respond(.text(400, "This is no proper WebSocket handshake"))
      return nil
    }
    sockets[ObjectIdentifier(socket)] = socket
    return socket
  }

  // MARK: Our own addresses

  private func handleOwn(
    _ request: HTTPRequestHead, on connection: ServerConnection
  ) -> (any Exchange)? {
    let name = String(decoding: request.path.dropFirst(Self.prefix.count), as: UTF8.self)
    if name == "client.js" {
      send(script: PackageResources.client_min_js, on: connection)
      return nil
    }
    guard isSameOrigin(request) else {
      connection.respond(.text(403, "Only pages of this server may ask for this"))
      return nil
    }
    switch (request.method, name) {
    case ("GET", "events"):
      return openEvents(request, connection)
    case ("GET", "overlay.js"), ("HEAD", "overlay.js"):
      send(script: PackageResources.overlay_min_js, on: connection)
    case ("GET", ""), ("HEAD", ""):
      connection.respond(core.statusPage())
    case ("GET", "status.json"), ("HEAD", "status.json"):
      var response = HTTPResponse(200, core.statusJSON(), type: "application/json")
      response.fields.append("Cache-Control", "no-store")
      response.fields.append("X-Content-Type-Options", "nosniff")
      connection.respond(response)
    case ("POST", "open"):
      connection.respond(core.openEditor(query: request.query))
    default:
      connection.respond(.text(404, "Not found"))
    }
    return nil
  }

  /// Whether a request comes from a page of this server, or from no browser.
  private func isSameOrigin(_ request: HTTPRequestHead) -> Bool {
    let origins = request.fields.all("origin")
    if let origin = origins.first {
      return origins.count == 1 && access.allows(origin: Array(origin), host: request.host)
    }
    guard let site = request.fields.first("sec-fetch-site") else { return true }
    return site.equalsIgnoringCase("same-origin") || site.equalsIgnoringCase("none")
  }

  private func send(script: [UInt8], on connection: ServerConnection) {
    var response = HTTPResponse(200, script, type: "text/javascript; charset=utf-8")
    response.fields.append("Cache-Control", "no-cache")
    // Pages of other servers on this machine may use it as well.
    response.fields.append("Cross-Origin-Resource-Policy", "cross-origin")
    connection.respond(response)
  }

  private func openEvents(
    _ request: HTTPRequestHead, _ connection: ServerConnection
  ) -> any Exchange {
    let stream = EventStream(
      on: connection, wantsStatus: request.query.elementsEqual("status".utf8),
      onClose: { [weak self] in self?.streams[ObjectIdentifier($0)] = nil })
    streams[ObjectIdentifier(stream)] = stream
    stream.send(
      ReloadMessage.hello(
        session: core.session, revision: revision, token: core.token, overlay: page.showsOverlay))
    if page.showsOverlay { for failure in failures { stream.send(failure.message) } }
    return stream
  }
}

// MARK: - The script

extension PageSite: ProxyResponder.Site {
  private var script: FileResponder.Script {
    FileResponder.Script(tag: scriptTag(nonce: nil), variant: "\(core.session)-\(revision)")
  }

  func scriptTag(nonce: String?) -> [UInt8] {
    let attribute = nonce.map { " nonce=\"\($0)\"" } ?? ""
    return Array(
      """
      <script src="/__watchrun/client.js" data-session="\(core.session)" \
      data-revision="\(revision)"\(attribute) async></script>
      """.utf8)
  }

  func makeNonce() -> String { core.randomText() }

  func warnOfMissingScript(_ reason: String) {
    if hasWarned { return }
    hasWarned = true
    core.report(.warning("\(page.name) is not reloaded everywhere: in a page, \(reason)"))
  }

  /// Says that the server does not answer, with what it wrote last; loads itself again.
  func failurePage(_ failure: ProxyExchange.Failure) -> [UInt8] {
    let address = upstream?.address.authority ?? ""
    let reason =
      switch failure {
      case .unreachable: "Nothing accepts connections at <code>\(address)</code>."
      case .closedEarly: "The server at <code>\(address)</code> closed the connection."
      case .malformed(let reason):
        "The server at <code>\(address)</code> sent no proper response: "
          + HTMLText.escape(reason) + "."
      }
    let outputs = core.status.tasks.filter {
      page.dependencies.contains($0.description.name) && !$0.lines.isEmpty
    }.map { task in
      let lines = task.lines.suffix(60).map { String(decoding: $0.plainText, as: UTF8.self) }
      return "<h2>\(HTMLText.escape(task.description.name))</h2>"
        + "<pre>\(HTMLText.escape(lines.joined(separator: "\n")))</pre>"
    }
    return HTMLText.page(
      "The server does not answer",
      "<p>\(reason) This page loads again by itself.</p>" + outputs.joined()
        // Where something is to be mended first, its success reloads the page.
        + (upstream?.isHopeless == true ? "" : "<meta http-equiv=\"refresh\" content=\"1\">"),
      scriptTag(nonce: nil))
  }
}

// MARK: - Changes

extension PageSite {
  func note(_ activity: Activity) {
    switch activity {
    case .changed(let paths):
      let changed = contents.changed(
        paths.filter { path in page.watched.contains(where: path.isWithin) })
      perform(session.changed(changed, at: core.milliseconds))
    case .unsettled(let names):
      perform(session.unsettled(names, at: core.milliseconds))
    case .started(let task):
      if isServer(task) { upstream?.serverSettled() }
    case .stopping(let task):
      if isServer(task) { upstream?.serverRestarts() }
    case .ended(let task, let outcome, let status, let duration):
      noteEnd(of: task, outcome, status, duration)
    case .tasks, .roundBegan, .roundEnded, .output:
      break
    }
  }

  private func isServer(_ task: String) -> Bool {
    page.dependencies.contains(task) && core.status.task(task)?.description.isService == true
  }

  private func noteEnd(
    of task: String, _ outcome: Activity.Outcome, _ status: Int?, _ duration: Duration
  ) {
    guard page.dependencies.contains(task) else { return }
    switch outcome {
    case .failed, .notReady:
      session.ended(task, hasFailed: true)
      show(task, core.failureMessage(of: task, outcome, status, duration))
    case .succeeded, .ready:
      session.ended(task, hasFailed: false)
      clear(task)
    case .stopped, .skipped, .kept:
      // A server that was stopped is still on its way to the next start.
      return
    }
    upstream?.isHopeless = session.hasFailed
    if isServer(task) { upstream?.serverSettled() }
  }

  private func show(_ task: String, _ message: [UInt8]) {
    failures.removeAll { $0.task == task }
    failures.append((task, message))
    if page.showsOverlay { for stream in streams.values { stream.send(message) } }
  }

  private func clear(_ task: String) {
    guard failures.contains(where: { $0.task == task }) else { return }
    failures.removeAll { $0.task == task }
    for stream in streams.values { stream.send(ReloadMessage.cleared(task: task)) }
  }

  private func perform(_ decision: ReloadSession.Decision?) {
    switch decision {
    case .send(let message):
      send(message)
    case .wait(let milliseconds, let path):
      core.loop.call(afterMilliseconds: milliseconds) { [weak self] in
        guard let self else { return }
        perform(session.elapsed(at: core.milliseconds))
      }
      if hasFoundLoop { return }
      hasFoundLoop = true
      core.report(
        .warning(
          "each reload of \(page.name) changes \(core.shown(path)): reloading again for that in "
            + "\(milliseconds / 1000) s; to ignore it, pass -i '\(Path(bytes: path.lastComponent))'"
        ))
    case nil:
      break
    }
  }

  private func send(_ message: ReloadSession.Message) {
    revision += 1
    switch message {
    case .reload:
      tell(ReloadMessage.reload(revision: revision), paths: ["/"])
    case .update(let paths):
      let (shown, isExact) = addresses(of: paths)
      tell(
        ReloadMessage.update(revision: revision, isExact: isExact, paths: shown), paths: shown)
    }
  }

  private func tell(_ message: [UInt8], paths: [String]) {
    for stream in streams.values { stream.send(message) }
    for socket in sockets.values { for path in paths { socket.reload(path) } }
  }

  /// The addresses of files on this server; behind a proxy only the files are known.
  private func addresses(of paths: [Path]) -> (paths: [String], isExact: Bool) {
    guard case .directory(let root) = page.source, paths.allSatisfy({ $0.isWithin(root) }) else {
      return (paths.map { String(decoding: $0.bytes, as: UTF8.self) }, false)
    }
    let shown = paths.compactMap { $0.relative(to: root) }.map { path in
      "/" + path.components.map { HTMLText.percentEncode(Array($0)) }.joined(separator: "/")
    }
    return (shown, true)
  }

  /// Tells those who show it that the status has changed.
  func statusChanged() {
    for stream in streams.values where stream.wantsStatus { stream.send(ReloadMessage.status) }
  }

  var hasStatusClients: Bool { streams.values.contains(where: \.wantsStatus) }
}
