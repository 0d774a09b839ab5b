extension ExchangeRow {
  private static let ok = "HTTP/1.1 200 OK|Content-Length: 2||ok"
  private static let refusal = "HTTP/1.1 413 Content Too Large|Content-Length: 3||big"
  private static let closing =
    "HTTP/1.1 413 Content Too Large|Content-Length: 3|Connection: close||big"

  /// A request for `/` with these fields.
  private static func get(_ fields: String) -> String {
    "GET / HTTP/1.1|Host: localhost|\(fields)||"
  }

  private static func post(_ rest: String) -> String { "POST / HTTP/1.1|Host: localhost|\(rest)" }

  static let requests: [ExchangeRow] = methods + targets + fields + bodies + early + versions

  private static let methods: [ExchangeRow] = [
    ExchangeRow("GET"),
    ExchangeRow("GET with a body", request: get("Content-Length: 3") + "abc"),
    ExchangeRow("DELETE", request: "DELETE /1 HTTP/1.1|Host: localhost||"),
    ExchangeRow(
      "DELETE with a body", request: "DELETE /1 HTTP/1.1|Host: localhost|Content-Length: 1||x"),
    ExchangeRow("PUT", request: "PUT /1 HTTP/1.1|Host: localhost|Content-Length: 3||put"),
    ExchangeRow("PATCH", request: "PATCH /1 HTTP/1.1|Host: localhost|Content-Length: 2||{}"),
    ExchangeRow("OPTIONS of a path", request: "OPTIONS /1 HTTP/1.1|Host: localhost||"),
    ExchangeRow("OPTIONS of the server", request: "OPTIONS * HTTP/1.1|Host: localhost||"),
    ExchangeRow("TRACE", request: "TRACE / HTTP/1.1|Host: localhost||"),
    ExchangeRow("PROPFIND", request: "PROPFIND / HTTP/1.1|Host: localhost|Depth: 1||"),
    ExchangeRow("an unknown method", request: "x-!y / HTTP/1.1|Host: localhost||"),
  ]

  private static let targets: [ExchangeRow] = [
    ExchangeRow("a query", request: "GET /a?b=c&d=%20&e=/?:@ HTTP/1.1|Host: localhost||"),
    ExchangeRow("an empty query", request: "GET /a? HTTP/1.1|Host: localhost||"),
    ExchangeRow("odd bytes", request: "GET /ä\"<>^`{}[]\\%zz HTTP/1.1|Host: localhost||"),
    ExchangeRow("slashes and dots", request: "GET //a//../b/./ HTTP/1.1|Host: localhost||"),
    ExchangeRow(
      "a long target",
      request: "GET /\(String(repeating: "x", count: 8000)) HTTP/1.1|Host: localhost||"),
    ExchangeRow(
      "a target in absolute form", request: "GET http://localhost/a HTTP/1.1|Host: localhost||",
      arrives: "GET /a HTTP/1.1|Host: localhost||", delivers: ok,
      because: "servers that are no proxies do not expect it"),
  ]

  private static let fields: [ExchangeRow] = [
    ExchangeRow("cookies in two fields", request: get("Cookie: a=1; b=2|Cookie: c=\"3\"")),
    ExchangeRow("credentials", request: get("Authorization: Basic eDp5")),
    ExchangeRow(
      "conditions",
      request: get(
        "Sec-Fetch-Dest: script|If-None-Match: \"1\"|If-Modified-Since: x|If-Range: y")),
    ExchangeRow(
      "conditions of a document",
      request: get("If-None-Match: \"1\"|If-Modified-Since: x|Sec-Fetch-Dest: document"),
      arrives: get("Sec-Fetch-Dest: document"), delivers: ok,
      because: "what the browser keeps may be without the script"),
    ExchangeRow(
      "conditions of a program", request: get("If-None-Match: \"1\"|If-Modified-Since: x")),
    ExchangeRow("a range", request: get("Range: bytes=0-1, -5")),
    ExchangeRow("names in any case", request: get("x-lower: 1|X-UPPER: 2|x_Under: 3")),
    ExchangeRow("an empty value", request: get("X-Empty: |Accept: */*")),
    ExchangeRow("a value of other bytes", request: get("X-Name: Zoë 猫")),
    ExchangeRow("colons and tabs", request: get("X-Odd: a:\tb: , ;\"")),
    ExchangeRow(
      "128 fields",
      request: get((1..<128).map { "X-\($0): \($0)" }.joined(separator: "|"))),
    ExchangeRow(
      "a head of 60 KiB", request: get("X-Long: \(String(repeating: "x", count: 60_000))")),
    ExchangeRow(
      "what a script accepts", request: get("Sec-Fetch-Dest: empty|Accept-Encoding: gzip, br")),
    ExchangeRow(
      "what a document accepts",
      request: get("Accept-Encoding: gzip, br|Sec-Fetch-Dest: document"),
      arrives: get("Sec-Fetch-Dest: document"), delivers: ok,
      because: "the script is added to it"),
    ExchangeRow("the origin of a page on this machine", request: get("Origin: http://localhost")),
    ExchangeRow("the way of the request", request: get("Via: 1.1 other|Forwarded: for=1.2.3.4")),
    ExchangeRow("early data, priorities", request: get("Early-Data: 1|Priority: u=1, i")),
    ExchangeRow(
      "Connection and what it lists",
      request: get("Connection: keep-alive, X-Hop|Keep-Alive: 5|X-Hop: 1|X-End: 2"),
      arrives: get("X-End: 2"), delivers: ok, because: "they are of one connection"),
    ExchangeRow(
      "Connection: close", request: get("Connection: close"), arrives: defaultRequest,
      answer: ok, delivers: "HTTP/1.1 200 OK|Content-Length: 2|Connection: close||ok",
      because: "it is of one connection", clientIsClosed: true),
    ExchangeRow(
      "a client that takes trailers", request: get("Connection: TE|TE: trailers, gzip;q=1"),
      arrives: get("Connection: TE|TE: trailers"), delivers: ok,
      because: "no coding of the connection but chunked is undone"),
    ExchangeRow(
      "fields of proxies", request: get("Proxy-Connection: x|Proxy-Authenticate: y"),
      arrives: defaultRequest, delivers: ok, because: "they are of one connection"),
    ExchangeRow(
      "lines before the request", request: "||" + defaultRequest, arrives: defaultRequest,
      delivers: ok, because: "HTTP requires to overlook them"),
  ]

  private static let bodies: [ExchangeRow] = [
    ExchangeRow("a body with a length", request: post("Content-Length: 3||abc")),
    ExchangeRow("an empty body", request: post("Content-Length: 0||")),
    ExchangeRow("POST without a body", request: post("|")),
    ExchangeRow("ends of lines in a body", request: post("Content-Length: 8||||\n\n\0\u{1}")),
    ExchangeRow("a chunk", request: post("Transfer-Encoding: chunked||3|abc|0||")),
    ExchangeRow("chunks", request: post("Transfer-Encoding: chunked||1|a|a|0123456789|0||")),
    ExchangeRow("no chunks", request: post("Transfer-Encoding: chunked||0||")),
    ExchangeRow(
      "extensions of chunks", request: post("Transfer-Encoding: chunked||3;a=\"b\"|abc|0;c||"),
      arrives: post("Transfer-Encoding: chunked||3|abc|0||"), delivers: ok,
      because: "they are of one connection"),
    ExchangeRow(
      "sizes of chunks", request: post("Transfer-Encoding: Chunked||00A|0123456789|000||"),
      arrives: post("Transfer-Encoding: chunked||a|0123456789|0||"), delivers: ok,
      because: "each side writes its own"),
    ExchangeRow("trailers", request: post("Transfer-Encoding: chunked||1|a|0|X-Sum: 1|X-End: 2||")),
    ExchangeRow(
      "announced trailers",
      request: post("Trailer: X-Sum|Transfer-Encoding: chunked||1|a|0|X-Sum: 1||")),
    ExchangeRow(
      "trailers that are no trailers",
      request: post("Transfer-Encoding: chunked||1|a|0|Content-Length: 5|Host: x|X-Sum: 1||"),
      arrives: post("Transfer-Encoding: chunked||1|a|0|X-Sum: 1||"), delivers: ok,
      because: "a server may take them for those of the head"),
    ExchangeRow(
      "a body of 200 kB",
      request: post("Content-Length: 200000||\(String(repeating: "0123456789", count: 20_000))")),
    ExchangeRow(
      "Expect: 100-continue", request: post("Expect: 100-continue|Content-Length: 3||abc"),
      answer: "HTTP/1.1 100 Continue||" + ok),
  ]

  private static let early: [ExchangeRow] = [
    ExchangeRow(
      "413 before a body", request: post("Content-Length: 50000||"), answer: refusal,
      delivers: closing, because: "the rest of the request is not read", isEarly: true,
      clientIsClosed: true),
    ExchangeRow(
      "413 within a body", request: post("Content-Length: 50000||0123456789"), answer: refusal,
      delivers: closing, because: "the rest of the request is not read", isEarly: true,
      clientIsClosed: true),
    ExchangeRow(
      "413 and the end of the connection",
      request: post("Content-Length: 900000||\(String(repeating: "x", count: 500_000))"),
      answer: closing, isEarly: true, serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "413 within chunks", request: post("Transfer-Encoding: chunked||3|abc|"), answer: refusal,
      delivers: closing, because: "the rest of the request is not read", isEarly: true,
      clientIsClosed: true),
    ExchangeRow(
      "501 and the end of the connection",
      request: post("Transfer-Encoding: chunked||\(String(repeating: "3|abc|", count: 50_000))"),
      answer: "HTTP/1.1 501 Not Implemented|Content-Length: 2|Connection: close||no",
      isEarly: true, serverCloses: true, clientIsClosed: true),
    ExchangeRow(
      "417 to Expect: 100-continue", request: post("Expect: 100-continue|Content-Length: 5||"),
      answer: "HTTP/1.1 417 Expectation Failed|Content-Length: 0||",
      delivers: "HTTP/1.1 417 Expectation Failed|Content-Length: 0|Connection: close||",
      because: "the client may send the body nevertheless", isEarly: true, clientIsClosed: true),
  ]

  private static let versions: [ExchangeRow] = [
    ExchangeRow(
      "HTTP/1.0", request: "GET / HTTP/1.0|Host: localhost||", arrives: defaultRequest,
      delivers: "HTTP/1.1 200 OK|Content-Length: 2|Connection: close||ok",
      because: "each connection has its version", clientIsClosed: true),
    ExchangeRow(
      "HTTP/1.0 that keeps its connection",
      request: "GET / HTTP/1.0|Host: localhost|Connection: keep-alive||", arrives: defaultRequest,
      delivers: "HTTP/1.1 200 OK|Content-Length: 2|Connection: keep-alive||ok",
      because: "each connection has its version"),
    ExchangeRow(
      "HTTP/1.0 and chunks", request: "GET / HTTP/1.0|Host: localhost||", arrives: defaultRequest,
      answer: "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|ok|0|X-Sum: 1||",
      delivers: "HTTP/1.1 200 OK|Connection: close||ok",
      because: "it does not know chunks", clientIsClosed: true),
    ExchangeRow(
      "HTTP/1.0 and an interim answer", request: "GET / HTTP/1.0|Host: localhost||",
      arrives: defaultRequest, answer: "HTTP/1.1 103 Early Hints|Link: </a>||" + ok,
      delivers: "HTTP/1.1 200 OK|Content-Length: 2|Connection: close||ok",
      because: "it does not know any", clientIsClosed: true),
    ExchangeRow(
      "HTTP/1.0 and a body",
      request: "POST / HTTP/1.0|Host: localhost|Expect: 100-continue|Content-Length: 3||abc",
      arrives: post("Content-Length: 3||abc"),
      delivers: "HTTP/1.1 200 OK|Content-Length: 2|Connection: close||ok",
      because: "it does not know expectations", clientIsClosed: true),
  ]
}
