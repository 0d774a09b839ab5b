/// Notices that a server answers differently than after the last reload, unless it is seen that it has started
/// since the last save.
/// Confined to the loop's queue.
final class AnswerMonitor {
  private let upstream: Upstream
  /// Whether the server is seen to have started since the last save.
  private let isFresh: () -> Bool
  /// Called before each request.
  private let willAsk: () -> Void
  private let changed: () -> Void
  private var answers = ServerAnswers()
  private var nextRequest: UInt64?
  private var request: AnswerRequest?

  /// - Parameter changed: Called when the page must reload.
  init(
    of upstream: Upstream, isFresh: @escaping () -> Bool, willAsk: @escaping () -> Void,
    changed: @escaping () -> Void
  ) {
    self.upstream = upstream
    self.isFresh = isFresh
    self.willAsk = willAsk
    self.changed = changed
  }

  /// The page reloads after a save.
  func reloads(revision: Int) {
    stop()
    answers.reloads(revision: revision)
  }

  /// Whether `delivered` must be called for a document of a revision.
  func awaitsDocument(of revision: Int) -> Bool {
    answers.awaitsDocument(of: revision) && !isFresh()
  }

  /// A document was delivered to a client.
  func delivered(_ body: BodyFingerprint, of request: HTTPRequestHead, to peer: String) {
    var request = request
    for name in ["if-none-match", "if-modified-since"] { request.fields.remove(name) }
    let head = ProxyHeads.request(request, to: upstream.address, from: peer)
    perform(answers.delivered(body), head)
  }

  private func perform(_ action: ServerAnswers.Action?, _ head: [UInt8]) {
    switch action {
    case .ask(let milliseconds):
      nextRequest = upstream.loop.call(after: .milliseconds(milliseconds)) { [weak self] in
        self?.ask(head)
      }
    case .reload:
      changed()
      // The reload for this change is none after a save.
      stop()
    case nil:
      break
    }
  }

  private func ask(_ head: [UInt8]) {
    nextRequest = nil
    if isFresh() { return answers.settle() }
    willAsk()
    let request = AnswerRequest(head, to: upstream) { [weak self] answer in
      guard let self else { return }
      self.request = nil
      perform(answers.answered(answer), head)
    }
    self.request = request
    request.begin()
  }

  /// Ends the requests.
  func stop() {
    answers.settle()
    if let nextRequest { upstream.loop.cancelCall(nextRequest) }
    nextRequest = nil
    request?.cancel()
    request = nil
  }
}

/// A GET of which only the fingerprint of the answer counts.
private final class AnswerRequest: UpstreamUser {
  /// The longest time for an answer.
  private static let limit = Duration.seconds(10)

  private let head: [UInt8]
  private let upstream: Upstream
  private var completion: ((BodyFingerprint?) -> Void)?
  private var server: UpstreamConnection?
  private var limit: UInt64?
  private var body = BodyFingerprint()
  /// Whether the server itself answers, and not another one that cannot reach it.
  private var isFromServer = false

  /// - Parameter completion: Called with the fingerprint of the body; `nil` if there is no answer.
  init(
    _ head: [UInt8], to upstream: Upstream, _ completion: @escaping (BodyFingerprint?) -> Void
  ) {
    self.head = head
    self.upstream = upstream
    self.completion = completion
  }

  func begin() {
    limit = upstream.loop.call(after: Self.limit) { [weak self] in self?.finish(nil) }
    // A connection that was opened before may lead to a process that is about to end.
    upstream.connect(isFresh: true, for: self)
  }

  func cancel() {
    completion = nil
    if let limit { upstream.loop.cancelCall(limit) }
    if let server { upstream.release(server, isReusable: false) }
    server = nil
  }

  private func finish(_ answer: BodyFingerprint?) {
    let completion = completion
    cancel()
    completion?(answer)
  }

  func upstreamConnected(_ connection: UpstreamConnection) {
    server = connection
    connection.expectResponse(to: "GET")
    connection.stream.write(head)
  }

  func upstreamReceived(_ event: HTTPParser.Event) {
    switch event {
    case .response(let head): isFromServer = !(502...504).contains(head.status)
    case .body(let bytes): body.add(bytes)
    case .end: finish(isFromServer ? body : nil)
    case .request: break
    }
  }

  func upstreamConnectionRefused() { finish(nil) }
  func upstreamLost(_ failure: ProxyExchange.Failure) { finish(nil) }
  func upstreamReceived(raw bytes: [UInt8]) {}
  func upstreamDrained() {}
  func upstreamEnded() {}
}
