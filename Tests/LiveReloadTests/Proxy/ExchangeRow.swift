import Testing

/// A request and its answer, as the server alone would receive and send them, with what the proxy changes.
///
/// In all texts, `|` is the end of a line.
struct ExchangeRow: Sendable, CustomTestStringConvertible {
  static let defaultRequest = "GET / HTTP/1.1|Host: localhost||"
  static let defaultAnswer = "HTTP/1.1 200 OK|Content-Length: 2||ok"
  /// What stands for an answer of the proxy itself, which shows an error.
  static let error = "502"

  let testDescription: String
  let request: String
  /// What arrives at the server, without the fields that the proxy adds: `X-Forwarded-…`, and the `Accept-Encoding` of
  /// what may be a document.
  let arriving: String
  let answer: String
  /// What the client receives; the script is `<script>`.
  let delivered: String
  /// Whether the server answers as soon as the head has arrived, and does not read the rest.
  let isEarly: Bool
  /// Whether the server closes its connection after the answer.
  let serverCloses: Bool
  /// Whether the connection of the client is closed after the answer.
  let clientIsClosed: Bool

  /// - Parameter reason: Why the proxy changes something.
  init(
    _ name: String, request: String = defaultRequest, arrives: String? = nil,
    answer: String = defaultAnswer, delivers: String? = nil, because reason: String? = nil,
    isEarly: Bool = false, serverCloses: Bool = false, clientIsClosed: Bool = false
  ) {
    precondition((arrives ?? delivers != nil) == (reason != nil), "a change has a reason: \(name)")
    testDescription = reason.map { "\(name): \($0)" } ?? name
    self.request = Self.lines(request)
    arriving = Self.lines(arrives ?? request)
    self.answer = Self.lines(answer)
    delivered = Self.lines(delivers ?? answer)
    (self.isEarly, self.serverCloses) = (isEarly, serverCloses)
    self.clientIsClosed = clientIsClosed
  }

  private static func lines(_ text: String) -> String {
    text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\r\n")
  }

  private static let added = [
    "X-Forwarded-For: 127.0.0.1\r", "X-Forwarded-Host: localhost\r", "X-Forwarded-Proto: http\r",
    "Accept-Encoding: identity\r",
  ]

  /// Removes what the proxy adds to each message, and what differs each time.
  static func normalized(_ text: String) -> String {
    let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).filter { line in
      !added.contains { line.elementsEqual($0.utf8) }
    }
    let text = String(decoding: Array(lines.joined(separator: [10])), as: UTF8.self)
    // Regular expressions take long, and most texts have neither.
    let isChanged = ["<script src=", "HTTP/1.1 502"].contains {
      text.utf8.firstRange(of: $0.utf8) != nil
    }
    if text.utf8.count > 10_000 || !isChanged { return text }
    return
      text
      .replacing(/<script src="\/__watchrun[^<]*<\/script>/, with: "<script>")
      .replacing(
        /HTTP\/1.1 502 Bad[\s\S]*?(?=HTTP\/1.1 200 OK|$)/.matchingSemantics(.unicodeScalar),
        with: error)
  }
}
