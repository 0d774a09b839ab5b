import Support

/// A path that watchrun itself serves, with its handler.
struct Route: Sendable {
  /// Starts answering; the result is `nil` if the response has been written completely.
  typealias Answer = @Sendable (PageSite, HTTPRequestHead, ServerConnection) -> (any Exchange)?

  private static let prefix = "/__watchrun/"
  /// The path at which clients of the LiveReload protocol request the script.
  fileprivate static let script = "/livereload.js"
  private static let reading = ["GET", "HEAD"]

  private static let all = [
    Route(reading, script, isForAnyone: true) { $2.reply($0.client(for: $1)) },
    Route(reading, prefix + "client.js", isForAnyone: true) { $2.reply($0.client(for: $1)) },
    Route(reading, prefix + "overlay.js") { $2.reply(.script(PackageResources.overlay_min_js)) },
    Route(reading, prefix + "worker.js") { $2.reply(.script(PackageResources.worker_min_js)) },
    Route(["GET"], prefix + "events") { $0.openEvents($1, on: $2) },
    Route(reading, prefix) { site, _, connection in connection.reply(site.core.statusPage()) },
    Route(reading, prefix + "status.json") { site, _, connection in
      connection.reply(site.core.statusJSON())
    },
    Route(["POST"], prefix + "console") { $0.receiveConsole($1, on: $2) },
    Route(["POST"], prefix + "open") { $2.reply($0.core.openEditor(query: $1.query)) },
    Route(["POST"], prefix + "run") { $2.reply($0.core.runAgain(query: $1.query)) },
  ]

  private let methods: [String]
  private let path: String
  /// Whether pages of other servers may request it.
  let isForAnyone: Bool
  let answer: Answer

  private init(
    _ methods: [String], _ path: String, isForAnyone: Bool = false, _ answer: @escaping Answer
  ) {
    (self.methods, self.path) = (methods, path)
    (self.isForAnyone, self.answer) = (isForAnyone, answer)
  }

  /// The route of a request; `nil` for a request to the page itself.
  static func matching(_ request: HTTPRequestHead) -> Route? {
    guard request.path.starts(with: prefix.utf8) || request.path.elementsEqual(script.utf8) else {
      return nil
    }
    return all.first { route in
      request.path.elementsEqual(route.path.utf8) && route.methods.contains(request.method)
    } ?? unknown
  }

  private static let unknown = Route([], "") { $2.reply(.text(404, "Not found")) }
}

extension PageSite {
  /// Answers a request for a route.
  func answer(
    _ route: Route, for request: HTTPRequestHead, on connection: ServerConnection
  ) -> (any Exchange)? {
    guard route.isForAnyone || isSameOrigin(request) else {
      return connection.reply(.text(403, "Only pages of this server may request this"))
    }
    return route.answer(self, request, connection)
  }

  /// Whether a request is from a page of this server, or not from a browser.
  private func isSameOrigin(_ request: HTTPRequestHead) -> Bool {
    let origins = request.fields.all("origin")
    if let origin = origins.first {
      return origins.count == 1 && access.allows(origin: Array(origin), host: request.host)
    }
    guard let site = request.fields.first("sec-fetch-site") else { return true }
    return site.equalsIgnoringCase("same-origin") || site.equalsIgnoringCase("none")
  }

  /// Whether a request comes from this machine, and not from elsewhere by way of a tunnel or another proxy.
  private func isLocal(_ request: HTTPRequestHead, from peer: String) -> Bool {
    // Browsers do not speak HTTP/1.0, but proxies do that add no fields.
    HostAddress(host: peer)?.isLoopback == true && request.minorVersion > 0
      && Self.fieldsOfProxies.allSatisfy { request.fields.first($0) == nil }
  }

  private static let fieldsOfProxies = [
    "cf-connecting-ip", "forwarded", "via", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-proto", "x-real-ip",
  ]

  fileprivate func openEvents(
    _ request: HTTPRequestHead, on connection: ServerConnection
  ) -> any Exchange {
    let stream = EventStream(
      on: connection, wantsStatus: request.query.elementsEqual("status".utf8))
    let greeting = ReloadMessage.hello(
      session: sessionID, revision: revision,
      token: isLocal(request, from: connection.peer) ? core.token : core.guestToken,
      overlay: page.showsOverlay)
    // The page may have missed the message, when it was not connected yet.
    let mayRetry = !servers.isEmpty && !servers.values.contains(where: \.isHopeless)
    stream.send(
      all: [greeting] + (page.showsOverlay ? failures.map(\.message) : [])
        + (mayRetry ? [ReloadMessage.retry] : []))
    return stream
  }
}

extension PageSite {
  /// The client script, which does not change during a session, so that a reload need not fetch it again.
  fileprivate func client(for request: HTTPRequestHead) -> HTTPResponse {
    let hasConsole = page.reportsConsole && !request.path.elementsEqual(Route.script.utf8)
    var response = HTTPResponse.script(
      (hasConsole ? PackageResources.console_min_js : []) + PackageResources.client_min_js,
      isImmutable: request.query.elementsEqual(sessionID.utf8))
    // Pages of other servers on this machine may use it too.
    response.fields.append("Cross-Origin-Resource-Policy", "cross-origin")
    return response
  }
}

extension HTTPResponse {
  fileprivate static func script(_ text: [UInt8], isImmutable: Bool = false) -> HTTPResponse {
    var response = HTTPResponse(200, text, type: "text/javascript; charset=utf-8")
    response.fields.append("Cache-Control", isImmutable ? "max-age=86400, immutable" : "no-cache")
    return response
  }
}
