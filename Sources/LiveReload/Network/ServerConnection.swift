import Support
import SystemCalls

/// The exchange of one request and its response. All methods are called on the server's queue.
protocol Exchange: AnyObject {
  /// A part of the request's body has arrived.
  func receiveBody(_ bytes: [UInt8])
  /// The request is complete.
  func receiveEnd(_ trailers: HTTPFields)
  /// More of the response may be written.
  func drained()
  /// The client has closed its sending side. Most have gone then, but some wait for the response.
  func clientEnded()
  /// The client has gone. This is the last call.
  func clientClosed()
}

extension Exchange {
  func receiveBody(_ bytes: [UInt8]) {}
  func receiveEnd(_ trailers: HTTPFields) {}
  func drained() {}
  func clientEnded() {}
  func clientClosed() {}
}

/// The server's side of an HTTP connection. Each request is answered before the next one is read.
final class ServerConnection: ByteStreamOwner {
  private enum Phase {
    /// Waiting for a request, or reading its head.
    case reading
    /// A request is being answered.
    case answering
    /// The protocol has been changed; bytes are passed to the exchange.
    case upgraded
    case closed
  }

  /// The most bytes of pipelined requests that are buffered.
  private static let mostBuffered = 64 * 1024

  /// The client's numeric address.
  let peer: String
  let stream: ByteStream
  private weak var site: PageSite?
  private var parser = HTTPParser(.requests)
  private var phase = Phase.reading
  private var request: HTTPRequestHead?
  private(set) var exchange: (any Exchange)?
  private var isRequestComplete = false
  private var isResponseComplete = false
  /// The framing of the response's body.
  private var framing = HTTPFraming.none
  private var keepsAlive = true
  private var isReading = false
  /// Whether the client has closed its sending side. The requests before are answered.
  private var hasInputEnded = false
  /// Since when the connection waits for a request; `nil` while it does something else.
  private(set) var idleSince: Instant?

  init(_ stream: ByteStream, from peer: String, of site: PageSite) {
    self.stream = stream
    self.peer = peer
    self.site = site
    stream.setOwner(self)
    awaitRequest()
  }

  var isHeadRequest: Bool { request?.method == "HEAD" }

  // MARK: - Requests

  func received(_ bytes: UnsafeRawBufferPointer) {
    if phase == .upgraded {
      exchange?.receiveBody(Array(bytes))
      return
    }
    parser.append(bytes)
    readRequests()
    if parser.bufferedCount > Self.mostBuffered { stream.pause() }
  }

  /// Reads requests from the buffer until one must be answered, or until the client must first
  /// receive what it has been sent.
  private func readRequests() {
    // A response that is completed at once calls this method again.
    if isReading { return }
    isReading = true
    defer { isReading = false }
    while phase == .reading && !isFull || phase == .answering && !isRequestComplete {
      do throws(HTTPError) {
        guard let event = try parser.next() else { break }
        handle(event)
      } catch {
        return refuse(error)
      }
    }
    if hasInputEnded && phase == .answering && !isRequestComplete { return stream.close() }
    if phase != .reading || isFull { return }
    if hasInputEnded { end() } else { awaitRequest() }
  }

  /// Sets the deadline of a request that has begun, or has not.
  private func awaitRequest() {
    let reason = parser.isInMessage ? StreamDeadline.head : .idle
    stream.clear(reason == .head ? .idle : .head)
    if stream.isAwaiting(reason) { return }
    stream.start(reason)
    idleSince = reason == .idle ? stream.now : nil
  }

  private func handle(_ event: HTTPParser.Event) {
    switch event {
    case .request(let head): begin(head)
    case .body(let bytes):
      stream.start(.body)
      exchange?.receiveBody(bytes)
    case .end(let trailers):
      isRequestComplete = true
      stream.clear(.body)
      exchange?.receiveEnd(trailers)
      if hasInputEnded { exchange?.clientEnded() }
      finishIfComplete()
    case .response, .interim: break
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    phase = .answering
    idleSince = nil
    request = head
    (isRequestComplete, isResponseComplete) = (false, false)
    framing = .none
    keepsAlive = head.keepsAlive
    stream.clear(.head)
    stream.clear(.idle)
    if head.framing != .none { stream.start(.body) }
    exchange = site?.handle(head, on: self)
    // A write may have failed meanwhile.
    if phase == .closed { closeExchange() }
  }

  /// Answers an invalid request, and closes the connection, since the following bytes cannot be trusted.
  func refuse(_ error: HTTPError) {
    if phase == .answering { return stream.close() }
    phase = .answering
    idleSince = nil
    keepsAlive = false
    respond(.text(error.status, "\(error.status) \(error.reason)"))
  }

  // MARK: - Responses

  /// Sends an answer before the final one, if the client knows of any.
  func sendInterim(_ status: Int, _ reason: [UInt8], _ fields: HTTPFields = HTTPFields()) {
    guard let request, request.minorVersion > 0 else { return }
    stream.write(fields.written(status: status, reason))
  }

  /// Sends a complete response, of which no exchange is left.
  func reply(_ response: HTTPResponse) -> (any Exchange)? {
    respond(response)
    return nil
  }

  func respond(_ response: HTTPResponse) {
    var fields = response.fields
    if response.hasBody { fields.set("Content-Length", String(response.length).utf8) }
    let isBodyless = isHeadRequest || !response.hasBody
    var output = head(response.status, reason: nil, fields)
    framing = .length(response.length)
    switch response.body {
    case .bytes(let bytes):
      if !isBodyless { output += bytes }
      stream.write(output)
    case .file(let file, let offset, let count):
      stream.write(output)
      if !isBodyless { stream.write(file, from: offset, count: count) }
    }
    finish()
  }

  /// Starts a response whose body follows in parts.
  ///
  /// - Parameters:
  ///   - length: The body's length; `nil` to send it in chunks.
  ///   - endsWithConnection: Whether it ends with the connection instead.
  func begin(
    _ status: Int, reason: [UInt8]? = nil, _ fields: HTTPFields, length: Int?, hasBody: Bool = true,
    endsWithConnection: Bool = false
  ) {
    var fields = fields
    if let length { fields.set("Content-Length", String(length).utf8) }
    if isHeadRequest || !hasBody {
      framing = .none
    } else if let length {
      framing = .length(length)
    } else if endsWithConnection || request?.minorVersion == 0 {
      framing = .untilClose
      keepsAlive = false
    } else {
      framing = .chunked
      let codings = fields.list("transfer-encoding") + [Array("chunked".utf8)]
      fields.set("Transfer-Encoding", Array(codings.joined(separator: Array(", ".utf8))))
    }
    stream.write(head(status, reason: reason, fields))
  }

  private func head(_ status: Int, reason: [UInt8]?, _ fields: HTTPFields) -> [UInt8] {
    // The rest of the request's body is not read.
    if !isRequestComplete && request?.framing != HTTPFraming.none { keepsAlive = false }
    if hasInputEnded && parser.bufferedCount == 0 { keepsAlive = false }
    var fields = fields
    if !keepsAlive {
      fields.append("Connection", "close")
    } else if request?.minorVersion == 0 {
      fields.append("Connection", "keep-alive")
    }
    return fields.written(status: status, reason ?? Array(HTTPResponse.reason(of: status).utf8))
  }

  func write(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    switch framing {
    case .none: break
    case .length, .untilClose: stream.write(bytes)
    case .chunked: stream.write(bytes.chunk)
    }
  }

  /// Ends the response, or the connection after a change of protocol.
  func finish(_ trailers: HTTPFields = HTTPFields()) {
    if phase == .upgraded { return end() }
    if framing == .chunked { stream.write(trailers.lastChunk) }
    isResponseComplete = true
    finishIfComplete()
  }

  /// Whether the writer should wait for `Exchange.drained`.
  var isFull: Bool { stream.isFull }

  func drained() {
    switch phase {
    case .reading: continueReading()
    case .answering, .upgraded: exchange?.drained()
    case .closed: break
    }
  }

  private func continueReading() {
    stream.resume()
    readRequests()
  }

  private func finishIfComplete() {
    guard phase == .answering, isResponseComplete else { return }
    if !keepsAlive || !isRequestComplete && request?.framing != HTTPFraming.none {
      return end()
    }
    guard isRequestComplete else { return }
    exchange = nil
    request = nil
    phase = .reading
    if isFull { stream.pause() } else { continueReading() }
  }

  /// Closes the connection after the client has received everything.
  private func end() {
    phase = .closed
    exchange = nil
    stream.closeWhenSent()
  }

  /// Changes the protocol: from now on, bytes are passed between the exchange and the client unchanged.
  func upgrade(_ head: [UInt8]) {
    phase = .upgraded
    framing = .untilClose
    stream.clear(.body)
    stream.write(head)
  }

  /// Removes and returns the bytes after the request, which belong to the new protocol.
  func takeEarlyBytes() -> [UInt8] {
    // So many may have come that no more were read.
    stream.resume()
    return parser.takeRest()
  }

  // MARK: - The end

  func receivedEnd() {
    switch phase {
    case .reading:
      hasInputEnded = true
      readRequests()
    // The client may still be waiting for a response.
    case .answering where isRequestComplete:
      hasInputEnded = true
      exchange?.clientEnded()
    case .upgraded: exchange?.clientEnded()
    case .answering, .closed: stream.close()
    }
  }

  func closed() {
    phase = .closed
    closeExchange()
    site?.connectionClosed(self)
  }

  private func closeExchange() {
    let exchange = exchange
    self.exchange = nil
    exchange?.clientClosed()
  }
}
