extension ExchangeRow {
  private static let ok = "HTTP/1.1 200 OK|"
  private static let head = "HEAD / HTTP/1.1|Host: localhost||"
  private static let post = "POST / HTTP/1.1|Host: localhost|Content-Length: 0||"

  static let answers: [ExchangeRow] =
    framings + interim + bodiless + statuses + fields + rewritten + documents + broken

  private static let framings: [ExchangeRow] = [
    ExchangeRow("a length", answer: ok + "Content-Length: 3||abc"),
    ExchangeRow("no bytes", answer: ok + "Content-Length: 0||"),
    ExchangeRow("a chunk", answer: ok + "Transfer-Encoding: chunked||3|abc|0||"),
    ExchangeRow("chunks", answer: ok + "Transfer-Encoding: chunked||1|a|2|bc|a|0123456789|0||"),
    ExchangeRow("no chunks", answer: ok + "Transfer-Encoding: chunked||0||"),
    ExchangeRow(
      "extensions of chunks", answer: ok + "Transfer-Encoding: chunked||3;a=\"b\"|abc|0;c||",
      delivers: ok + "Transfer-Encoding: chunked||3|abc|0||",
      because: "they are of one connection"),
    ExchangeRow(
      "sizes of chunks", answer: ok + "Transfer-Encoding: CHUNKED||00A |0123456789|000||",
      delivers: ok + "Transfer-Encoding: chunked||a|0123456789|0||",
      because: "each side writes its own"),
    ExchangeRow(
      "trailers", answer: ok + "Transfer-Encoding: chunked||1|a|0|Server-Timing: a;dur=5|X: 1||"),
    ExchangeRow(
      "announced trailers",
      answer: ok + "Trailer: Server-Timing|Transfer-Encoding: chunked||1|a|0|Server-Timing: a||"),
    ExchangeRow(
      "trailers that are no trailers",
      answer: ok + "Transfer-Encoding: chunked||1|a|0|Content-Length: 5|Set-Cookie: a|X: 1||",
      delivers: ok + "Transfer-Encoding: chunked||1|a|0|Set-Cookie: a|X: 1||",
      because: "they would change the framing"),
    ExchangeRow("gzip, chunked", answer: ok + "Transfer-Encoding: gzip, chunked||3|zip|0||"),
    ExchangeRow(
      "gzip", answer: ok + "Transfer-Encoding: gzip||zip",
      delivers: ok + "Transfer-Encoding: gzip, chunked||3|zip|0||",
      because: "the connection of the client stays open", serverCloses: true),
    ExchangeRow(
      "identity", answer: ok + "Transfer-Encoding: identity|Content-Length: 3||abc",
      delivers: ok + "Content-Length: 3||abc", because: "it says nothing"),
    ExchangeRow(
      "the end of the connection", answer: ok + "||abc",
      delivers: ok + "Transfer-Encoding: chunked||5|\r\nabc|0||",
      because: "the connection of the client stays open", serverCloses: true),
    ExchangeRow(
      "HTTP/1.0", answer: "HTTP/1.0 200 OK|X: 1||abc",
      delivers: ok + "X: 1|Transfer-Encoding: chunked||3|abc|0||",
      because: "each connection has its version", serverCloses: true),
    ExchangeRow(
      "HTTP/1.0 with a length", answer: "HTTP/1.0 200 OK|Content-Length: 3||abc",
      delivers: ok + "Content-Length: 3||abc",
      because: "each connection has its version", serverCloses: true),
    ExchangeRow(
      "HTTP/1.0 that keeps its connection",
      answer: "HTTP/1.0 200 OK|Connection: keep-alive|Content-Length: 3||abc",
      delivers: ok + "Content-Length: 3||abc", because: "each connection has its version"),
    ExchangeRow(
      "Connection: close", answer: ok + "Connection: close|Content-Length: 3||abc",
      delivers: ok + "Content-Length: 3||abc", because: "it is of one connection",
      serverCloses: true),
    ExchangeRow(
      "two equal lengths", answer: ok + "Content-Length: 3|Content-Length: 3||abc",
      delivers: ok + "Content-Length: 3||abc", because: "they are one"),
    ExchangeRow(
      "a list of equal lengths", answer: ok + "Content-Length: 3, 3||abc",
      delivers: ok + "Content-Length: 3||abc", because: "they are one"),
    ExchangeRow(
      "chunks and a length", answer: ok + "Content-Length: 9|Transfer-Encoding: chunked||1|a|0||",
      delivers: ok + "Transfer-Encoding: chunked||1|a|0||",
      because: "chunks count, and the connection to the server is not used again"),
    ExchangeRow(
      "a body like the end of a head", answer: ok + "Content-Length: 12||||HTTP/1.1"),
    ExchangeRow("control characters", answer: ok + "Content-Length: 4||\0\u{1}\n\u{7f}"),
    ExchangeRow(
      "a body of 200 kB",
      answer: ok + "Content-Length: 200000||" + String(repeating: "0123456789", count: 20_000)),
  ]

  private static let interim: [ExchangeRow] = [
    ExchangeRow(
      "early hints",
      answer: "HTTP/1.1 103 Early Hints|Link: </a.css>; rel=preload||" + ok + "Content-Length: 0||"),
    ExchangeRow(
      "several interim answers",
      answer: "HTTP/1.1 102 Processing||HTTP/1.1 103 Early Hints|Link: </a>||"
        + "HTTP/1.1 103 Early Hints|Link: </b>|Link: </c>||" + ok + "Content-Length: 0||"),
    ExchangeRow("100 to nobody", answer: "HTTP/1.1 100 Continue||" + ok + "Content-Length: 0||"),
    ExchangeRow(
      "an unknown interim answer", answer: "HTTP/1.1 199 Odd|X: y||" + ok + "Content-Length: 0||"),
    ExchangeRow(
      "an interim answer with fields of the connection",
      answer: "HTTP/1.1 103 Early Hints|Connection: X|X: 1|Link: </a>||" + ok
        + "Content-Length: 0||",
      delivers: "HTTP/1.1 103 Early Hints|Link: </a>||" + ok + "Content-Length: 0||",
      because: "they are of one connection"),
    ExchangeRow(
      "an interim answer before HEAD's", request: head,
      answer: "HTTP/1.1 103 Early Hints|Link: </a>||" + ok + "Content-Length: 5||"),
  ]

  private static let bodiless: [ExchangeRow] = [
    ExchangeRow("HEAD and a length", request: head, answer: ok + "Content-Length: 500||"),
    ExchangeRow(
      "HEAD and chunks", request: head, answer: ok + "X: 1|Transfer-Encoding: chunked||",
      delivers: ok + "X: 1||", because: "how the body would be sent is of one connection"),
    ExchangeRow("HEAD and neither", request: head, answer: ok + "X: 1||"),
    ExchangeRow(
      "HEAD of a document", request: head,
      answer: ok + "Content-Type: text/html|Content-Length: 500||",
      delivers: ok + "Content-Type: text/html||", because: "with the script it is longer"),
    ExchangeRow("204", answer: "HTTP/1.1 204 No Content|X: 1||"),
    ExchangeRow(
      "204 with a length", answer: "HTTP/1.1 204 No Content|Content-Length: 5||",
      delivers: "HTTP/1.1 204 No Content||", because: "HTTP does not permit one"),
    ExchangeRow(
      "204 with chunks", answer: "HTTP/1.1 204 No Content|Transfer-Encoding: chunked||",
      delivers: "HTTP/1.1 204 No Content||", because: "HTTP does not permit them"),
    ExchangeRow("204 with a type", answer: "HTTP/1.1 204 No Content|Content-Type: text/html||"),
    ExchangeRow("304", answer: "HTTP/1.1 304 Not Modified|ETag: \"1\"|Vary: Accept||"),
    ExchangeRow("304 with a length", answer: "HTTP/1.1 304 Not Modified|Content-Length: 500||"),
    ExchangeRow(
      "304 with chunks", answer: "HTTP/1.1 304 Not Modified|Transfer-Encoding: chunked||",
      delivers: "HTTP/1.1 304 Not Modified||", because: "they are of one connection"),
    ExchangeRow("205", answer: "HTTP/1.1 205 Reset Content|Content-Length: 0||"),
  ]

  private static let statuses: [ExchangeRow] =
    [
      "200 Fine", "200 ", "299 Odd", "401 Unauthorized", "404 Ä 猫", "418 I'm a teapot",
      "426 Upgrade", "451 No: \"x\"", "500 Internal", "599 Odd", "999 Odd",
    ].map { ExchangeRow($0, answer: "HTTP/1.1 \($0)|Content-Length: 3||abc") } + [
      ExchangeRow(
        "no reason", answer: "HTTP/1.1 200|Content-Length: 3||abc",
        delivers: "HTTP/1.1 200 |Content-Length: 3||abc", because: "HTTP requires the space"),
      ExchangeRow(
        "206", request: "GET / HTTP/1.1|Host: localhost|Range: bytes=0-2||",
        answer: "HTTP/1.1 206 Partial Content|Content-Range: bytes 0-2/9|Content-Length: 3||abc"),
      ExchangeRow("416", answer: "HTTP/1.1 416 Range|Content-Range: bytes */9|Content-Length: 0||"),
    ]

  private static func answer(_ fields: String) -> String { ok + fields + "|Content-Length: 2||ok" }

  private static let fields: [ExchangeRow] = [
    ExchangeRow("cookies", answer: answer("Set-Cookie: a=1; Path=/; HttpOnly|Set-Cookie: b=\"2\"")),
    ExchangeRow("names in any case", answer: answer("x-lower: 1|X-UPPER: 2|x_Under: 3")),
    ExchangeRow("an empty value", answer: answer("X-Empty: |X-Next: 1")),
    ExchangeRow("a value of other bytes", answer: answer("X-Name: Zoë 猫")),
    ExchangeRow("colons and tabs", answer: answer("X-Odd: a:\tb: , ;\"")),
    ExchangeRow(
      "servers and ways", answer: answer("Via: 1.1 x|Server: y|Alt-Svc: h3=\":443\"|Date: x")),
    ExchangeRow(
      "credentials", answer: answer("WWW-Authenticate: Basic realm=\"a, b\"|WWW-Authenticate: X")),
    ExchangeRow("codings", answer: answer("Content-Encoding: gzip|Vary: Accept-Encoding")),
    ExchangeRow("validators of data", answer: answer("Content-Type: application/json|ETag: \"1\"")),
    ExchangeRow(
      "a type with parameters", answer: answer("Content-Type: text/css; charset=\"x;y\"")),
    ExchangeRow(
      "129 fields", answer: answer((1...129).map { "X-\($0): \($0)" }.joined(separator: "|"))),
    ExchangeRow(
      "a head of 100 kB", answer: answer("X-Long: \(String(repeating: "x", count: 100_000))")),
    ExchangeRow(
      "a folded field", answer: answer("X-Fold: a|  b|\tc"), delivers: answer("X-Fold: a b c"),
      because: "HTTP requires it"),
    ExchangeRow(
      "a space before a colon", answer: answer("X-Space : a"), delivers: answer("X-Space: a"),
      because: "HTTP requires it"),
    ExchangeRow(
      "lines without CR", answer: "HTTP/1.1 200 OK\nX: 1\nContent-Length: 2\n\nok",
      delivers: answer("X: 1"), because: "clients are stricter"),
    ExchangeRow(
      "Connection and what it lists",
      answer: answer("Connection: X-Hop|Keep-Alive: 5|X-Hop: 1|X: 2"),
      delivers: answer("X: 2"), because: "they are of one connection"),
    ExchangeRow(
      "fields of proxies", answer: answer("Proxy-Connection: x|Proxy-Authenticate: y"),
      delivers: ok + "Content-Length: 2||ok", because: "they are of one connection"),
    ExchangeRow(
      "Upgrade", answer: answer("Connection: Upgrade|Upgrade: h2c"),
      delivers: ok + "Content-Length: 2||ok", because: "it is of one connection"),
  ]

  private static let rewritten: [ExchangeRow] = [
    ExchangeRow("a redirect to a path", answer: answer("Location: /a?b=c#d")),
    ExchangeRow("a redirect to another server", answer: answer("Location: https://example.org/")),
    ExchangeRow("a refresh", answer: answer("Refresh: 5; url=/a")),
    ExchangeRow("no-store", answer: answer("Cache-Control: no-store")),
    ExchangeRow(
      "a time for which it may be kept", answer: answer("Cache-Control: max-age=60, private"),
      delivers: ok + "Cache-Control: no-cache, private|Content-Length: 2||ok",
      because: "a reload would show what was kept"),
    ExchangeRow(
      "the time of the last change", answer: answer("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"),
      delivers: answer("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT|Cache-Control: no-cache"),
      because: "a browser would guess for how long it may be kept"),
    ExchangeRow(
      "a cookie of a domain", answer: answer("Set-Cookie: a=1; Domain=example.org; Secure"),
      delivers: answer("Set-Cookie: a=1; Secure"), because: "the page has another host"),
  ]

  private static let old = "GET / HTTP/1.0|Host: localhost||"
  private static func page(_ fields: String, _ body: String) -> String {
    ok + "Content-Type: text/html\(fields)|Connection: close||\(body)"
  }

  private static let documents: [ExchangeRow] = [
    ExchangeRow(
      "a document", request: old,
      arrives: "GET / HTTP/1.1|Host: localhost||",
      answer: page("|ETag: \"1\"", "<html><body>a"), delivers: page("", "<html><script><body>a"),
      because: "the script is added", serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "a part of a document", request: "GET / HTTP/1.1|Host: localhost|Sec-Fetch-Dest: empty||",
      answer: ok + "Content-Type: text/html|ETag: \"1\"|Content-Length: 3||<p>"),
    ExchangeRow(
      "a document to save",
      answer: ok + "Content-Type: text/html|Content-Disposition: attachment|Content-Length: 3||<p>"),
    ExchangeRow(
      "a range of a document",
      answer:
        "HTTP/1.1 206 P|Content-Type: text/html|Content-Range: bytes 0-2/9|Content-Length: 3||<p>"),
    ExchangeRow(
      "early hints of a document", request: head,
      answer: "HTTP/1.1 103 Early Hints|Link: </a>||" + ok + "Content-Type: text/html||"),
    ExchangeRow(
      "a document with trailers", request: head,
      answer: ok + "Content-Type: text/html|Trailer: X||"),
  ]

  private static let broken: [ExchangeRow] = [
    ExchangeRow(
      "a body that is cut off", answer: ok + "Content-Length: 9||abc", serverCloses: true,
      clientIsClosed: true),
    ExchangeRow(
      "chunks that are cut off", answer: ok + "Transfer-Encoding: chunked||3|abc|",
      serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "a chunk that is cut off", answer: ok + "Transfer-Encoding: chunked||9|abc",
      delivers: ok + "Transfer-Encoding: chunked||3|abc|",
      because: "each side makes its own chunks",
      serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "a reset after a part",
      request: "POST / HTTP/1.1|Host: localhost|Connection: close|Content-Length: 500000||"
        + String(repeating: "x", count: 500_000),
      answer: ok + "X: 1||abc",
      delivers: ok + "X: 1|Transfer-Encoding: chunked|Connection: close||3|abc|",
      because: "without the last chunk it is not complete",
      isEarly: true, serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "no answer", request: post, answer: "", delivers: error, because: "an error is shown",
      serverCloses: true),
    ExchangeRow(
      "no HTTP", request: post, answer: "hello||", delivers: error, because: "an error is shown"),
    ExchangeRow(
      "a bad length", request: post, answer: ok + "Content-Length: -1||", delivers: error,
      because: "an error is shown"),
    ExchangeRow(
      "two lengths", request: post, answer: ok + "Content-Length: 1|Content-Length: 2||ab",
      delivers: error, because: "an error is shown"),
    ExchangeRow(
      "a bad chunk", request: post, answer: ok + "Transfer-Encoding: chunked||x|a|",
      delivers: ok + "Transfer-Encoding: chunked||", because: "it is cut off", clientIsClosed: true),
    ExchangeRow(
      "chunks that are not the last coding", request: post,
      answer: ok + "Transfer-Encoding: chunked, gzip||", delivers: error,
      because: "an error is shown"),
  ]
}
