import Support

extension PageSite {
  /// The path at which clients of the LiveReload protocol request the script.
  private static let script = "/livereload.js"

  /// Whether watchrun itself answers a request, and not the page.
  static func isForWatchrun(_ request: HTTPRequestHead) -> Bool {
    request.path.starts(with: "/__watchrun/".utf8) || request.path.elementsEqual(script.utf8)
  }

  /// Answers such a request. The result is `nil` if the response has been written completely.
  func answer(_ request: HTTPRequestHead, on connection: ServerConnection) -> (any Exchange)? {
    let response: HTTPResponse
    switch (request.method == "HEAD" ? "GET" : request.method, request.path.decoded) {
    // Pages of other servers may request it.
    case ("GET", Self.script), ("GET", "/__watchrun/client.js"): response = client(for: request)
    case _ where !isSameOrigin(request):
      response = .text(403, "Only pages of this server may request this")
    case ("GET", "/__watchrun/overlay.js"): response = .script(PackageResources.overlay_min_js)
    case ("GET", "/__watchrun/worker.js"): response = .script(PackageResources.worker_min_js)
    case ("GET", "/__watchrun/events") where request.method == "GET":
      return openEvents(request, on: connection)
    case ("GET", "/__watchrun/"): response = core.statusPage()
    case ("GET", "/__watchrun/status.json"): response = core.statusJSON()
    case ("POST", "/__watchrun/console"): return receiveConsole(request, on: connection)
    case ("POST", "/__watchrun/open"): response = core.openEditor(query: request.query)
    case ("POST", "/__watchrun/run"): response = core.runAgain(query: request.query)
    default: response = .text(404, "Not found")
    }
    return connection.reply(response)
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
    let hasConsole = page.reportsConsole && !request.path.elementsEqual(Self.script.utf8)
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
