import Support
import SystemCalls

/// The state that all pages of a server share: the loop, the status, and the shown source
/// locations. It is confined to the loop's queue.
final class ServerCore {
  let loop: SocketLoop
  let directory: Path
  let report: (PageServer.Report) -> Void
  /// How to allow a host that is refused.
  let hostAdvice: (String) -> String?
  private let openEditor: PageServer.EditorOpener
  /// The secret that a page on this machine must send to open the editor, and to run a task.
  let token: String
  /// The secret of pages elsewhere, with which they can only report their consoles.
  let guestToken: String
  /// The nonce of the client script where a policy of a page needs one. It stays the same, because
  /// browsers keep documents.
  let nonce: String
  var status = StatusModel()
  private var links = LinkTable()
  private var sites: [String: PageSite] = [:]
  private var isStatusBroadcastPending = false
  private let mostConnections: Int

  init(
    directory: Path, loop: SocketLoop, mostConnections: Int,
    hostAdvice: @escaping (String) -> String? = { _ in nil },
    report: @escaping (PageServer.Report) -> Void, openEditor: @escaping PageServer.EditorOpener
  ) {
    self.hostAdvice = hostAdvice
    self.openEditor = openEditor
    self.directory = directory
    self.loop = loop
    self.mostConnections = mostConnections
    self.report = report
    token = Self.randomText()
    guestToken = Self.randomText()
    nonce = Self.randomText()
  }

  var milliseconds: Int { loop.now.offset.milliseconds }

  /// The path for display.
  func shown(_ path: Path) -> Path { path.shown(in: directory) }

  static func randomText() -> String {
    (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
  }

  // MARK: - Pages

  func open(_ page: Page) throws(PageError) {
    let former = sites[page.name]
    close(page.name)
    let site = PageSite(page, in: self)
    site.takeOver(from: former)
    let urls = try site.listen(preferring: former?.port)
    sites[page.name] = site
    report(.serving(page: page.name, urls: urls))
  }

  func close(_ name: String) {
    sites.removeValue(forKey: name)?.close()
  }

  func site(_ name: String) -> PageSite? { sites[name] }

  func stop() {
    for name in sites.keys.sorted() { close(name) }
    loop.stop()
  }

  // MARK: - Connections

  /// Closes an idle connection if there is one too many. Without an idle one, the new one is
  /// refused.
  func admit(_ connection: ServerConnection) {
    let count = sites.values.reduce(0) { $0 + $1.connections.count }
    if count <= mostConnections || closeIdleConnection(but: connection) { return }
    connection.refuse(
      HTTPError(status: 503, reason: "Too many connections are open: close some pages"))
  }

  /// Closes the connection that has been idle for the longest time. Returns whether there was one.
  func closeIdleConnection(but excluded: ServerConnection? = nil) -> Bool {
    let oldest = sites.values.flatMap(\.connections.values).filter { $0 !== excluded }
      .filter { !$0.stream.hasOutput }
      .compactMap { connection in connection.idleSince.map { (connection, since: $0) } }
      .min { $0.since < $1.since }
    oldest?.0.stream.close()
    return oldest != nil
  }

  // MARK: - Activities

  func note(_ activity: Activity) {
    status.note(activity, at: Int(FileTime.latest().nanoseconds / 1_000_000))
    for site in sites.values { site.note(activity) }
    broadcastStatus()
  }

  /// Notifies clients that show the status, at most five times a second.
  func broadcastStatus() {
    guard !isStatusBroadcastPending, sites.values.contains(where: { $0.hasStatusClients })
    else {
      return
    }
    isStatusBroadcastPending = true
    loop.call(after: .milliseconds(200)) { [weak self] in
      guard let self else { return }
      isStatusBroadcastPending = false
      for site in sites.values { site.statusChanged() }
    }
  }

  // MARK: - Status page

  func statusJSON() -> HTTPResponse {
    for task in status.tasks { linkOutput(of: task.description.name) }
    let pages = sites.keys.sorted().compactMap { name in
      sites[name].map { site in
        StatusModel.PageEntry(
          name: name, url: site.url, source: site.page.sourceText, console: site.consoleLines)
      }
    }
    let text = status.json(directory: directory, pages: pages)
    var response = HTTPResponse(200, text, type: "application/json", isKept: false)
    response.fields.append("X-Content-Type-Options", "nosniff")
    return response
  }

  func statusPage() -> HTTPResponse {
    let nonce = Self.randomText()
    let page = PackageResources.status_html.filling([("__NONCE__", nonce.word)])
    var response = HTTPResponse(200, page, type: "text/html; charset=utf-8", isKept: false)
    response.fields.append(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    return response
  }

  // MARK: - Failures

  /// The lines of a failed task that are shown after the first ones.
  private static let lastLines = 80
  /// The most lines of an output before which its errors are not listed.
  private static let shortOutput = 20

  /// The message that shows the failure of a task, with links to the source locations in its
  /// output.
  func failureMessage(
    of name: String, _ outcome: Activity.Outcome, _ code: Int?, _ duration: Duration
  ) -> [UInt8] {
    linkOutput(of: name)
    let task = status.task(name)
    var lines = task.map { StatusModel.shownLines(of: $0, lastLines: Self.lastLines) } ?? []
    // In a short output they are seen at once.
    if let task, lines.count > Self.shortOutput, !task.errorLines.isEmpty {
      var terminal = TerminalText()
      lines = linked(task.errorLines.map { terminal.line(Array($0.utf8)) }) + [[]] + lines
    }
    let subject = Path(task?.description.title ?? name)
    let time = duration.shortDescription
    let title =
      switch (outcome, code) {
      case (.notReady, _): "\(subject) is not ready after \(time)"
      case (_, .some(let code)): "\(subject) failed with status \(code) after \(time)"
      case (_, nil): "\(subject) failed after \(time)"
      }
    let counts = task.map { $0.errorCounts.isEmpty ? "" : ": \($0.errorCounts)" } ?? ""
    return ReloadMessage.failure(task: name, title: title + counts, lines: lines)
  }

  /// The message that shows a failure of the embedding program.
  func failureMessage(of task: String, _ failure: PageFailure) -> [UInt8] {
    var terminal = TerminalText()
    let lines = failure.lines.prefix(Self.mostFailureLines).map { terminal.line($0) }
    return ReloadMessage.failure(task: task, title: failure.title, lines: linked(Array(lines)))
  }

  private static let mostFailureLines = 500

  /// Adds links to the source locations in the output of a task.
  private func linkOutput(of task: String) {
    status.linkOutput(of: task) { linked($0) }
  }

  private func linked(_ lines: [[Span]]) -> [[Span]] {
    links.link(lines) { text in
      let path = Path(text).absolute(from: directory)
      guard let found = try? FileStatus(of: path, followsLinks: true), found.type == .file else {
        return nil
      }
      return path
    }
  }

  /// Opens the editor at a source location that a page has shown.
  func openEditor(query: ArraySlice<UInt8>) -> HTTPResponse {
    let values = Self.values(in: query)
    if let refusal = refusal(of: values["token"]) { return refusal }
    guard let place = values["link"].flatMap({ Int($0) }).flatMap({ links[$0] }) else {
      return .text(403, "The link is out of date: reload the page")
    }
    if let problem = openEditor(place.path, place.line, place.column) {
      return .text(409, "cannot open the editor: \(problem)")
    }
    return HTTPResponse(204)
  }

  /// The answer to a page that may neither open the editor nor run a task; `nil` if it may.
  private func refusal(of token: String?) -> HTTPResponse? {
    if token == self.token { return nil }
    return .text(
      403,
      token == guestToken
        ? "Only browsers on the machine that runs watchrun may do this"
        : "The page is out of date: reload it")
  }

  /// Whether a query has a secret that only pages of this server know.
  func mayReport(_ query: ArraySlice<UInt8>) -> Bool {
    [token, guestToken].contains(Self.values(in: query)["token"])
  }

  /// Asks for another run of a task.
  func runAgain(query: ArraySlice<UInt8>) -> HTTPResponse {
    let values = Self.values(in: query)
    if let refusal = refusal(of: values["token"]) { return refusal }
    guard let name = values["task"], status.task(name) != nil else {
      return .text(404, "There is no such task any more")
    }
    report(.runRequested(task: name))
    return HTTPResponse(204)
  }

  private static func values(in query: ArraySlice<UInt8>) -> [String: String] {
    var values: [String: String] = [:]
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1)
      if parts.count == 2, let value = parts[1].percentDecoded {
        values[String(decoding: parts[0], as: UTF8.self)] = String(decoding: value, as: UTF8.self)
      }
    }
    return values
  }
}

extension Page {
  /// The source and the rules for display.
  fileprivate var sourceText: String {
    let rest =
      switch source {
      case .directory(let path): path.description
      case .upstream(let address): address.url.printable
      }
    let rules = proxies.map { "\($0.path): \($0.server.url)".printable }
    return ([rest] + rules).joined(separator: ", ")
  }
}
