import TestSupport
import Testing

@testable import LiveReload

/// The events of a parser, as short texts.
private func events(
  _ text: String, _ role: HTTPParser.Role = .requests, method: String = "GET",
  parts: (Int) -> [Int] = { [$0] }
) -> [String] {
  var parser = HTTPParser(role)
  parser.requestMethod = method
  var result: [String] = []
  var rest = Array(text.utf8)[...]
  do throws(HTTPError) {
    for count in parts(rest.count) {
      parser.append(rest.prefix(count))
      rest = rest.dropFirst(count)
      while let event = try parser.next() { result.append(event.text) }
    }
  } catch {
    result.append("\(error.status)")
  }
  return result.joiningBodies
}

extension HTTPParser.Event {
  fileprivate var text: String {
    switch self {
    case .request(let head):
      "\(head.method) \(String(decoding: head.target, as: UTF8.self)) "
        + "\(String(decoding: head.host, as: UTF8.self)) \(head.framing)"
    case .response(let head): "\(head.status) \(head.framing)"
    case .body(let bytes): "body:" + String(decoding: bytes, as: UTF8.self)
    case .interim(let head): "interim \(head.status)"
    case .end: "end"
    }
  }
}

extension [String] {
  /// The events with the parts of a body joined.
  fileprivate var joiningBodies: [String] {
    reduce(into: []) { all, next in
      if next.hasPrefix("body:"), let last = all.last, last.hasPrefix("body:") {
        all[all.count - 1] = last + next.dropFirst(5)
      } else {
        all.append(next)
      }
    }
  }
}

struct HTTPParserTests {
  private static let host = "Host: h\r\n"

  struct Row: Sendable, CustomTestStringConvertible {
    var text: String
    var expected: [String]

    init(_ text: String, _ expected: String...) {
      self.text = text
      self.expected = expected
    }

    var testDescription: String { String(text.prefix(60)) }
  }

  private static let good = [
    Row("GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a?b h none", "end"),
    Row("\r\nGET / HTTP/1.0\r\n\r\n", "GET /  none", "end"),
    Row("GET http://x:1/y HTTP/1.1\r\nHost: h\r\n\r\n", "GET /y x:1 none", "end"),
    Row("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * h none", "end"),
    Row(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: i\r\n\r\n",
      "POST / h length(3)", "body:abc", "end", "GET / i none", "end"),
    Row(
      "POST / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n"
        + "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
      "POST / h chunked", "body:abc0123456789", "end"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "POST / h none", "end"),
    Row("GET / HTTP/1.1\r\nHost:\t h \r\n\r\n", "GET / h none", "end"),
  ]

  private static let bad = [
    Row("GET / HTTP/1.1\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
    Row("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    Row("GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505"),
    Row("GET / FTP/1.1\r\nHost: h\r\n\r\n", "400"),
    Row("GET /\r\nHost: h\r\n\r\n", "400"),
    Row("GET x HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    Row("GET /#f HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    Row("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\nHost: h\n\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", "400"),
    Row("GET / HTTP/1.1\r\nHost: h\r\nA: \u{0}\r\n\r\n", "400"),
    // The beginning of TLS, which no end of a line need follow.
    Row("\u{16}\u{3}\u{1}", "400"), Row("\r\n\u{1}", "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\n", "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\n", "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -3\r\n\r\n", "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", "400"),
    Row(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501"),
    Row("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"),
    Row(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
      "501"),
    Row("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
  ]

  private static let badChunks = [
    "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", "1000000000000000\r\n", "1\r\nab\r\n", "1\nab",
    "1 1\r\na\r\n", "0\r\nbad trailer\r\n\r\n", "\r\n",
  ]

  @Test(arguments: good)
  func `a valid request is parsed`(row: Row) {
    #expect(events(row.text) == row.expected)
  }

  @Test(arguments: bad)
  func `an ambiguous message is refused`(row: Row) {
    #expect(events(row.text) == row.expected)
  }

  @Test(arguments: badChunks)
  func `a malformed chunk is refused`(chunk: String) {
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(events(head + chunk).last == "400")
  }

  @Test(arguments: good + bad)
  func `the parts of the input do not matter`(row: Row) {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<20 {
      let found = events(row.text) { count in
        var parts: [Int] = []
        while parts.reduce(0, +) < count { parts.append(Int.random(in: 1...5, using: &random)) }
        return parts
      }
      #expect(found == row.expected)
    }
  }

  @Test func `limits are enforced`() {
    let long = String(repeating: "x", count: 20_000)
    #expect(events("GET /\(long)") == ["414"])
    #expect(events("GET / HTTP/1.1\r\nHost: h\r\nA: \(long)\(long)\(long)\(long)") == ["431"])
    let many = String(repeating: "A: b\r\n", count: 200)
    #expect(events("GET / HTTP/1.1\r\nHost: h\r\n\(many)\r\n") == ["431"])
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(events(head + "1;" + long).last == "400")
    #expect(events(head + "0\r\n" + String(repeating: "A: b\r\n", count: 4000)).last == "431")
  }

  @Test func `nothing is parsed after an error`() throws {
    var parser = HTTPParser(.requests)
    parser.append("x\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    #expect(throws: HTTPError.self) { _ = try parser.next() }
    #expect(throws: HTTPError.self) { _ = try parser.next() }
  }

  private static let responses = [
    Row("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "200 length(2)", "body:ab", "end"),
    Row("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200 length(0)", "end"),
    Row("HTTP/1.0 200 OK\n\nab", "200 untilClose", "body:ab"),
    Row("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 none", "end"),
    Row(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", "interim 100", "204 none", "end"),
    Row("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "101 none", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      "200 chunked", "body:a", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n2\r\nab\r\n0\r\n\r\n",
      "200 chunked", "body:ab", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n2\r\nab\r\n0\r\n\r\n",
      "200 chunked", "body:ab", "end"),
    Row("HTTP/1.1 304 Not Modified\r\nContent-Length: x\r\n\r\n", "304 none", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,\r\n Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      "200 chunked", "body:a", "end"),
    Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\na", "200 untilClose", "body:a"),
    Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "502"),
    Row("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;q=1\r\n\r\n", "502"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA : b\r\n c\r\n\r\n",
      "200 chunked", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n c\r\n\r\n",
      "200 chunked", "400"),
    Row(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na",
      "200 length(1)", "body:a", "end"),
    Row("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "400"),
    Row("HTTP/1.1 200 OK\r\nA: b\r\n c\u{1}\r\n\r\n", "400"),
    Row("HTTP/1.1 200 OK\r\nA: b\r\n c\rd\r\n\r\n", "400"),
    Row("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na", "200 length(1)", "body:a", "end"),
    Row(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\na", "200 length(1)",
      "body:a", "end"),
    Row("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", "400"),
    Row("HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\na", "400"),
    Row("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\na", "400"),
    Row("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n", "799 length(0)", "end"),
    Row("HTTP/1.1 099 Odd\r\n\r\n", "502"),
    Row("HTTP/1.1 2000 OK\r\n\r\n", "502"), Row("nonsense\r\n\r\n", "502"),
  ]

  @Test(arguments: responses)
  func `a response is parsed`(row: Row) {
    #expect(events(row.text, .responses) == row.expected)
  }

  @Test func `a response may have what browsers accept`() throws {
    var parser = HTTPParser(.responses)
    parser.append("HTTP/1.1 200 OK\r\nA : b\r\nC: d\r\n\t e\r\n  f\r\nG:\r\n\r\n".utf8)
    guard case .response(let head) = try parser.next() else { throw CancellationError() }
    let fields = head.fields.pairs.map { name, value in
      String(decoding: name, as: UTF8.self) + ":" + String(decoding: value, as: UTF8.self)
    }
    #expect(fields == ["A:b", "C:d e f", "G:"])
    let many = String(repeating: "A: \(String(repeating: "x", count: 500))\r\n", count: 300)
    let text = "HTTP/1.1 200 OK\r\n\(many)Content-Length: 0\r\n\r\n"
    #expect(events(text, .responses) == ["200 length(0)", "end"])
    #expect(events("HTTP/1.1 200 OK\r\n" + many + many, .responses) == ["431"])
  }

  @Test func `a response to HEAD has no body`() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    #expect(events(text, .responses, method: "HEAD") == ["200 none", "end"])
  }
}
