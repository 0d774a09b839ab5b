import Foundation
import Testing

@testable import LiveReload

struct ProxyHeadsTests {
  private let local = ServerAddress(host: "localhost", port: 3000)
  private let remote = ServerAddress(host: "app.test", port: 80, basePath: "/base/")

  private func request(_ text: String) throws -> HTTPRequestHead {
    var parser = HTTPParser(.requests)
    parser.append((text + "\r\n\r\n").utf8)
    guard case .request(let head) = try parser.next() else {
      throw HTTPError(status: 0, reason: "")
    }
    return head
  }

  private func lines(_ text: String, to upstream: ServerAddress) throws -> Set<String> {
    let bytes = ProxyHeads.request(try request(text), to: upstream, from: "127.0.0.9")
    return Set(String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n"))
  }

  @Test func `hop-by-hop fields are not forwarded, and the client is named`() throws {
    let sent = try lines(
      """
      GET /a?b HTTP/1.1\r
      Host: localhost:8080\r
      Connection: keep-alive, X-Mine\r
      X-Mine: 1\r
      Keep-Alive: 5\r
      TE: trailers, gzip\r
      X-Forwarded-For: 1.2.3.4\r
      X-Forwarded-Host: evil\r
      Accept: image/png\r
      Accept-Encoding: gzip
      """, to: local)
    #expect(
      sent == [
        "GET /a?b HTTP/1.1", "Host: localhost:8080", "Accept: image/png", "Accept-Encoding: gzip",
        "X-Forwarded-For: 1.2.3.4, 127.0.0.9", "X-Forwarded-Host: localhost:8080",
        "X-Forwarded-Proto: http", "Connection: TE", "TE: trailers", "",
      ])
  }

  @Test func `addresses of clients that are for this hop alone are not forwarded`() throws {
    let sent = try lines(
      """
      GET / HTTP/1.1\r
      Host: localhost:8080\r
      Connection: x-forwarded-for\r
      X-Forwarded-For: 1.2.3.4
      """, to: local)
    #expect(sent.contains("X-Forwarded-For: 127.0.0.9"))
  }

  @Test(
    arguments: [
      ("", .anyDocument), ("Accept: image/png", nil), ("Accept: */*", .wholeDocuments),
      ("Accept: text/html", .wholeDocuments),
      ("Accept: text/html\r\nUpgrade-Insecure-Requests: 1", .anyDocument),
      ("HX-Request: true\r\nAccept: */*", nil), ("Turbo-Frame: a\r\nAccept: text/html", nil),
      ("X-Requested-With: XMLHttpRequest\r\nAccept: */*", nil),
      // Of an app that shows the page.
      ("X-Requested-With: org.app\r\nUpgrade-Insecure-Requests: 1\r\nAccept: */*", .anyDocument),
      ("Sec-Fetch-Dest: document", .anyDocument), ("Sec-Fetch-Dest: iframe", .anyDocument),
      ("Sec-Fetch-Dest: empty\r\nAccept: text/html", nil),
      ("Sec-Fetch-Dest: empty\r\nSec-Purpose: prefetch", .anyDocument),
      ("Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors", nil),
      // Passed on by a service worker.
      ("Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: navigate\r\nAccept: text/html", .anyDocument),
      ("Sec-Fetch-Dest: object\r\nSec-Fetch-Mode: navigate", nil),
    ] as [(String, ScriptInjector.Scope?)])
  func `the script is for documents, and not for their parts`(
    fields: String, scope: ScriptInjector.Scope?
  ) throws {
    let end = fields.isEmpty ? "" : "\r\n" + fields
    let request = try request("GET / HTTP/1.1\r\nHost: h" + end)
    #expect(ProxyHeads.scriptScope(request) == scope)
  }

  @Test func `a document is requested without compression`() throws {
    let sent = try lines(
      "GET / HTTP/1.1\r\nHost: localhost:8080\r\nAccept: text/html\r\nAccept-Encoding: gzip",
      to: local)
    #expect(sent.contains("Accept-Encoding: identity"))
    #expect(!sent.contains("Accept-Encoding: gzip"))
  }

  @Test(arguments: [
    ("/s.css?watchrun=12", "/s.css"), ("/s.css?v=1&watchrun=12", "/s.css?v=1"),
    ("/s.css?watchrun=1&&v", "/s.css?&v"), ("/s.css?", "/s.css?"),
    ("/?a&b?watchrun=1", "/?a&b?watchrun=1"),
  ])
  func `the server sees no parameter of the script`(target: String, expected: String) throws {
    let sent = try lines("GET \(target) HTTP/1.1\r\nHost: localhost:8080", to: local)
    #expect(sent.contains("GET \(expected) HTTP/1.1"))
  }

  @Test func `a remote server receives its own name`() throws {
    let sent = try lines(
      "POST /a HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost:8080\r\n"
        + "Content-Length: 3", to: remote)
    #expect(sent.isSuperset(of: ["POST /base/a HTTP/1.1", "Host: app.test"]))
    #expect(sent.isSuperset(of: ["Origin: http://app.test", "Content-Length: 3"]))
  }

  @Test(arguments: [
    ("localhost", true), ("a.LOCALHOST", true), ("127.0.0.2", true), ("::1", true),
    ("0.0.0.0", true), ("::", true), ("127.evil.test", false), ("app.test", false), ("::2", false),
  ])
  func `a server on this machine is recognized by its address`(host: String, isLocal: Bool) throws {
    let address = ServerAddress(host: host, port: 1)
    #expect(address.isLocal == isLocal)
    let sent = try lines("GET / HTTP/1.1\r\nHost: localhost:8080", to: address)
    #expect(sent.contains("Host: localhost:8080") == isLocal)
  }

  @Test func `a change of protocol is forwarded`() throws {
    let sent = try lines(
      "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket", to: local)
    #expect(sent.isSuperset(of: ["Connection: Upgrade", "Upgrade: websocket"]))
  }

  @Test(arguments: [
    ("http://localhost:3000/x?y", "/x?y"), ("http://localhost:3000", "/"), ("/x", "/x"),
    ("http://LOCALHOST:3000/x", "/x"), ("http://localhost:30001/x", "http://localhost:30001/x"),
    ("https://localhost:3000/x", "https://localhost:3000/x"), ("//localhost:3000/x", "/x"),
    ("http://other.test/x", "http://other.test/x"), ("http://127.0.0.1:3000/x", "/x"),
    ("http://[::1]:3000/x", "/x"), ("//0.0.0.0:3000?y", "/?y"), ("http://localhost.:3000#z", "/#z"),
    ("http://app.localhost:3000/x", "/x"), ("http://localhost/x", "http://localhost/x"),
    ("http://10.0.0.1:3000/x", "http://10.0.0.1:3000/x"),
    ("http://a@localhost:3000/", "http://a@localhost:3000/"),
    ("http://localhost:3000@evil.test/", "http://localhost:3000@evil.test/"),
    // Browsers take what follows two slashes for a host.
    ("http://localhost:3000//evil.test/x", "/evil.test/x"),
    ("http://localhost:3000/\\/evil.test/x", "/evil.test/x"), ("//evil.test/x", "//evil.test/x"),
    ("http://localhost:3000/\t/evil.test/x", "/evil.test/x"),
  ])
  func `addresses on the server become the page's`(location: String, expected: String) throws {
    #expect(try fields("Location: \(location)", from: local).first("location") == expected)
  }

  @Test(arguments: [
    ("5; url=http://127.0.0.1:3000/x", "5; url=/x"),
    ("0;URL='http://localhost:3000/x'", "0;URL=/x"),
    ("5", "5"), ("1; url=/x?a=b", "1; url=/x?a=b"),
    ("1; url=http://other.test/", "1; url=http://other.test/"),
    ("1; url=", "1; url="),
  ])
  func `a refresh stays in the page`(value: String, expected: String) throws {
    #expect(try fields("Refresh: \(value)", from: local).first("refresh") == expected)
  }

  @Test func `a remote server is known by its name only`() throws {
    for (location, expected) in [
      ("http://APP.test/base/x", "/x"), ("/base//evil.test/x", "/evil.test/x"), ("/base", "/"),
      ("/base?a", "/?a"), ("/based", "/based"),
      ("http://app.test:80/x", "/x"),
      ("http://localhost/x", "http://localhost/x"),
    ] {
      #expect(try fields("Location: \(location)", from: remote).first("location") == expected)
    }
  }

  @Test func `cookies for the server's domain become the page's`() throws {
    let fields = try fields(
      "Set-Cookie: a=b; Domain=app.test; Path=/; Secure\r\nSet-Cookie: c=d", from: remote)
    #expect(
      fields.all("set-cookie").map { String(decoding: $0, as: UTF8.self) } == [
        "a=b; Path=/; Secure", "c=d",
      ])
  }

  @Test(arguments: [
    ("a=b; Path=/base", "a=b; Path=/"), ("a=b;path=/base/x ; Secure", "a=b; Path=/x; Secure"),
    ("a=b; Path=/base/", "a=b; Path=/"), ("a=b; Path=/based", "a=b; Path=/based"),
    ("Path=/base; Path=/", "Path=/base; Path=/"),
  ])
  func `cookies for paths below the server's base become the page's`(
    cookie: String, expected: String
  ) throws {
    #expect(try fields("Set-Cookie: \(cookie)", from: remote).first("set-cookie") == expected)
  }

  @Test(arguments: [
    ("", true), ("Content-Disposition: inline", true), ("Content-Disposition: attachment", false),
    ("content-disposition: Attachment; filename=\"a.html\"", false),
  ])
  func `a document that is saved as a file is not changed`(field: String, isChanged: Bool) throws {
    let request = try request("GET / HTTP/1.1\r\nHost: h\r\nSec-Fetch-Dest: document")
    let response = try response(
      "Content-Type: text/html" + (field.isEmpty ? "" : "\r\n" + field))
    #expect((ProxyHeads.scriptScope(request, response) != nil) == isChanged)
  }

  @Test(
    arguments: [
      ("X-A: 1", nil), ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "no-cache"),
      ("Cache-Control: max-age=3600", "no-cache"),
      (
        "Cache-Control: public, max-age=1\r\nCache-Control: Immutable, stale-while-revalidate=9",
        "no-cache, public"
      ),
      ("Cache-Control: private, no-cache", "no-cache, private"),
      ("Cache-Control: no-cache=\"a, b\", max-age=600", "no-cache"),
      (
        "Cache-Control: private=\"a, \\\", max-age=1\", public",
        "no-cache, private=\"a, \\\", max-age=1\", public"
      ),
      ("Cache-Control: private=\"a, max-age=1", "no-cache, private=\"a, max-age=1"),
      ("Cache-Control: max-age=9, no-store", "no-store"),
      ("Expires: Thu, 01 Dec 2094 16:00:00 GMT", "no-cache"),
    ] as [(String, String?)])
  func `a browser asks before it uses an answer again`(sent: String, received: String?) throws {
    let fields = try fields(sent, from: local).all("cache-control")
    #expect(fields.map { String(decoding: $0, as: UTF8.self) } == [received].compactMap(\.self))
  }

  @Test(arguments: [(0, false), (1, false), (2, true), (3600, true)])
  func `a time of change proves nothing within the second after it`(
    age: Int, isForwarded: Bool
  ) throws {
    let text = """
      ETag: "1-2"\r\nLast-Modified: \(HTTPDate.string(secondsSince1970: 800_000_000 - age))\r
      Date: \(HTTPDate.string(secondsSince1970: 800_000_000))
      """
    let fields = try fields(text, from: local)
    #expect((fields.first("last-modified") != nil) == isForwarded)
    #expect((fields.first("etag") != nil) == isForwarded)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1", "HTTP/1.1 200 OK", "text/css", false),
    ("GET / HTTP/1.1\r\nSec-Fetch-Dest: script", "HTTP/1.1 206 OK", "text/css", false),
    ("GET / HTTP/1.1\r\nSec-Fetch-Dest: empty", "HTTP/1.1 200 OK", "text/css", true),
    ("GET / HTTP/1.1", "HTTP/1.1 200 OK", "application/json; charset=utf-8", true),
    ("PUT / HTTP/1.1", "HTTP/1.1 200 OK", "text/css", true),
    ("GET / HTTP/1.1", "HTTP/1.1 412 No", "text/css", true),
  ])
  func `the validators of an answer that is no file pass`(
    request: String, status: String, type: String, isForwarded: Bool
  ) throws {
    let time = HTTPDate.string(secondsSince1970: 800_000_000)
    let text = "ETag: \"1\"\r\nLast-Modified: \(time)\r\nDate: \(time)\r\nContent-Type: \(type)"
    let fields = ProxyHeads.response(
      try response(text, status), to: try self.request(request + "\r\nHost: h"), from: local)
    #expect((fields.first("last-modified") != nil) == isForwarded)
    #expect((fields.first("etag") != nil) == isForwarded)
  }

  @Test func `neither framing nor length of the server is forwarded`() throws {
    let fields = try fields(
      "Transfer-Encoding: chunked\r\nConnection: close, X-A\r\nX-A: 1\r\nX-B: 2", from: local)
    #expect(fields.pairs.map { String(decoding: $0.name, as: UTF8.self) } == ["X-B"])
  }

  @Test(arguments: [
    ("GET / HTTP/1.1", "HTTP/1.1 200 OK", true), ("GET / HTTP/1.0", "HTTP/1.1 200 OK", false),
    ("HEAD / HTTP/1.1", "HTTP/1.1 200 OK", false), ("GET / HTTP/1.1", "HTTP/1.1 204 No", false),
    ("GET / HTTP/1.1", "HTTP/1.1 304 No", false),
  ])
  func `codings are said of a body only, and not in HTTP 1.0`(
    request: String, status: String, isForwarded: Bool
  ) throws {
    let request = try self.request(request + "\r\nHost: h")
    let response = try response("Transfer-Encoding: gzip, chunked", status, to: request.method)
    let fields = ProxyHeads.response(response, to: request, from: local)
    #expect((fields.first("transfer-encoding") != nil) == isForwarded)
  }

  private func fields(_ text: String, from upstream: ServerAddress) throws -> HTTPFields {
    ProxyHeads.response(
      try response(text), to: try request("GET / HTTP/1.1\r\nHost: h"), from: upstream)
  }

  private func response(
    _ text: String, _ status: String = "HTTP/1.1 200 OK", to method: String = "GET"
  ) throws -> HTTPResponseHead {
    var parser = HTTPParser(.responses)
    parser.requestMethod = method
    parser.append("\(status)\r\n\(text)\r\n\r\n".utf8)
    guard case .response(let head) = try parser.next() else {
      throw HTTPError(status: 0, reason: "")
    }
    return head
  }
}

private func == (left: ArraySlice<UInt8>?, right: String) -> Bool {
  left.map { String(decoding: $0, as: UTF8.self) } == right
}
