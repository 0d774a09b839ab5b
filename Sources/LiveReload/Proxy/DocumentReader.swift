/// Requests a document of a server again, of which only the fingerprint counts. Confined to the loop's queue.
final class DocumentReader: UpstreamUser {
  /// The longest time for an answer.
  private static let limit = Duration.seconds(10)

  private let upstream: Upstream
  private let head: [UInt8]
  private var completion: ((BodyFingerprint?) -> Void)?
  private var server: UpstreamConnection?
  /// The next request, or the end of its time.
  private var alarm: SocketLoop.Call?
  private var body = BodyFingerprint()
  /// Whether the server itself answers, and not another one that cannot reach it.
  private var isFromServer = false

  init(_ request: HTTPRequestHead, of upstream: Upstream, for peer: String) {
    var request = request
    for name in ["if-none-match", "if-modified-since"] { request.fields.remove(name) }
    head = ProxyHeads.request(request, to: upstream.address, from: peer)
    self.upstream = upstream
  }

  /// Makes the request after a pause, if it is still needed. `completion` receives `nil` without an answer.
  func read(
    afterMilliseconds pause: Int, if isNeeded: @escaping () -> Bool,
    _ completion: @escaping (BodyFingerprint?) -> Void
  ) {
    alarm = upstream.loop.call(after: .milliseconds(pause)) { [weak self] in
      guard let self, isNeeded() else { return }
      (self.completion, body) = (completion, BodyFingerprint())
      alarm = upstream.loop.call(after: Self.limit) { [weak self] in self?.finish(nil) }
      // A connection that was opened before may lead to a process that is about to end.
      upstream.connect(isFresh: true, for: self)
    }
  }

  func cancel() {
    completion = nil
    upstream.loop.cancelCall(&alarm)
    if let server { upstream.release(server, isReusable: false) }
    server = nil
  }

  private func finish(_ answer: BodyFingerprint?) {
    let completion = completion
    cancel()
    completion?(answer)
  }

  func upstreamConnected(_ connection: UpstreamConnection) {
    if completion == nil { return upstream.release(connection, isReusable: false) }
    server = connection
    connection.expectResponse(to: "GET")
    connection.stream.write(head)
  }

  func upstreamReceived(_ event: HTTPParser.Event) {
    switch event {
    case .response(let head): isFromServer = !(502...504).contains(head.status)
    case .body(let bytes): body.add(bytes)
    case .end: finish(isFromServer ? body : nil)
    case .request, .interim: break
    }
  }

  func upstreamLost(_ failure: ProxyExchange.Failure) { finish(nil) }
}
