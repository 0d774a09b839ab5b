import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// Invalid requests, the same ones in each run.
struct FuzzTests {
  private static let seeds = Array(1...UInt64(4))

  @Test(arguments: seeds)
  func `no request crashes the server or reads outside files`(seed: UInt64) async throws {
    let pages = try ServedPages()
    try pages.directory.makeDirectories("site")
    try pages.directory.write("<body>home</body>", to: "site/index.html")
    try pages.directory.write("the secret text", to: "secret")
    try pages.directory.link("site/out", to: "\(pages.directory["secret"])")
    let port = try pages.openSite()
    var generator = RequestGenerator(seed: seed)
    for round in 0..<Effort.count(25_000, quick: 400) {
      let client = try RawClient(port: port)
      var rest = generator.next()[...]
      while !rest.isEmpty {
        let part = rest.prefix(Int.random(in: 1...4000, using: &generator.random))
        rest = rest.dropFirst(part.count)
        guard await client.send(Array(part)) else { break }
      }
      // Most clients close without waiting for a response, as scanners do.
      if round.isMultiple(of: 8) {
        client.endSending()
        let (text, isClosed) = await client.receive()
        #expect(isClosed)
        #expect(!text.contains("the secret text"))
      }
    }
    #expect(try await RawClient.request(port, "/").body.contains("home"))
  }

  /// Each connection has its own state: garbage on one does not matter to another.
  @Test func `garbage closes its own connection alone`() async throws {
    let pages = try ServedPages()
    try pages.directory.makeDirectories("site")
    try pages.directory.write("<body>home</body>", to: "site/index.html")
    let port = try pages.openSite()
    let listener = try RawClient(port: port)
    _ = await listener.send("GET /__watchrun/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(await listener.receive { $0.contains("hello") }.text.contains("hello"))
    let garbage = try RawClient(port: port)
    _ = await garbage.send("\u{0}\u{1}\r\n\r\n")
    let (text, isClosed) = await garbage.receive()
    #expect(isClosed && text.hasPrefix("HTTP/1.1 400"))
    pages.server.note(.changed([pages.directory["site/index.html"]]))
    #expect(await listener.receive { $0.contains("reload") }.text.contains("\"reload\""))
  }
}

private struct RequestGenerator {
  var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  private static let targets = [
    "/", "/index.html", "/../secret", "/%2e%2e/secret", "/out", "/..%2fsecret", "/%00", "//secret",
    "/__watchrun/status.json", "/__watchrun/events", "/__watchrun/open?link=1&token=",
    "/livereload",
    "http://evil.test/", "*", "/\\..\\secret", "/.%2e/secret", "/site/../../secret",
  ]

  private static let lines = [
    "Host: localhost", "Host: evil.test", "Content-Length: 5", "Content-Length: 5, 5",
    "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked, gzip", "Transfer-Encoding:\u{B}chunked", "Connection: close",
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Range: bytes=0-1,2-3", "Range: bytes=-99999999",
    "If-None-Match: \"", "Expect: 100-continue", " folded", "Bad Name: x", ": none", "A: \u{0}",
    "Origin: http://evil.test", "Accept: text/html",
    "Cookie: " + String(repeating: "a", count: 9000),
  ]

  mutating func next() -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) { bytes += request() }
    // Some bytes are changed, removed or inserted.
    for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
      }
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
    }
    return bytes
  }

  private mutating func request() -> [UInt8] {
    if Int.random(in: 0..<10, using: &random) == 0 {
      return (0..<Int.random(in: 1...3000, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
    }
    let method = ["GET", "HEAD", "POST", "OPTIONS", "CONNECT", "G\u{0}T", "PRI"].randomElement(
      using: &random)
    let end = Int.random(in: 0..<12, using: &random) == 0 ? "\n" : "\r\n"
    var text = "\(method ?? "") \(Self.targets.randomElement(using: &random) ?? "") HTTP/1.1\(end)"
    text += "Host: localhost\(end)"
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      text += (Self.lines.randomElement(using: &random) ?? "") + end
    }
    text += end
    if Int.random(in: 0..<3, using: &random) == 0 { text += "5\r\nhello\r\n0\r\n\r\n" }
    return Array(text.utf8)
  }
}
