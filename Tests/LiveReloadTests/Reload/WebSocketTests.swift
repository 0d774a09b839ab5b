import TestSupport
import Support
import Testing

@testable import LiveReload

/// Frames of clients, those of the server, and the handshake.
struct WebSocketTests {
  private typealias Event = WebSocketParser.Event

  /// A client's frame; `length` overrides the encoding of the length.
  private static func frame(
    _ first: UInt8, _ payload: [UInt8] = [], length: [UInt8]? = nil, isMasked: Bool = true
  ) -> [UInt8] {
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    var size = length ?? shortestLength(payload.count)
    if !isMasked { return [first] + size + payload }
    size[0] |= 0x80
    let masked = payload.enumerated().map { (index, byte) in byte ^ mask[index & 3] }
    return [first] + size + mask + masked
  }

  private static func shortestLength(_ count: Int) -> [UInt8] {
    if count < 126 { return [UInt8(count)] }
    if count < 65_536 { return [126, UInt8(count >> 8), UInt8(count & 0xFF)] }
    return [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  }

  private static func parse(_ parts: [[UInt8]], limit: Int = 64 * 1024) -> [Event] {
    var parser = WebSocketParser(limit: limit)
    return parts.flatMap { parser.process($0) }
  }

  private static let hello = Array("Hello".utf8)
  private static let large = [UInt8](repeating: 0x61, count: 65_536)

  private static let exchanges: [(bytes: [UInt8], events: [Event])] = [
    ([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.text(hello)]),
    (frame(0x81), [.text([])]), (frame(0x82, [0xFF]), []),
    (frame(0x81, Array(large.prefix(126))), [.text(Array(large.prefix(126)))]),
    (frame(0x81, large), [.text(large)]),
    (
      frame(0x01, hello) + frame(0x89, [1]) + frame(0x00) + frame(0x80, hello),
      [.ping([1]), .text(hello + hello)]
    ),
    (
      frame(0x02, [0xC3]) + frame(0x80, [0x28]) + frame(0x81, hello),
      [.text(hello)]
    ),
    (frame(0x01, [0xC3]) + frame(0x80, [0xA9]), [.text([0xC3, 0xA9])]),
    (frame(0x8A, [2]), []),
    (frame(0x88) + frame(0x81, hello), [.close]),
    (frame(0x88, [0x03, 0xE8] + hello), [.close]), (frame(0x88, [3]), [.close]),
    (frame(0x81, hello) + [0x81], [.text(hello)]),
    // Errors, after which nothing is parsed.
    (frame(0x81, hello, isMasked: false), [.failure(code: 1002)]),
    (frame(0xC1, hello), [.failure(code: 1002)]),
    (frame(0x91) + frame(0x81), [.failure(code: 1002)]), (frame(0x83), [.failure(code: 1002)]),
    (frame(0x8B), [.failure(code: 1002)]),
    (frame(0x09), [.failure(code: 1002)]), (frame(0x08), [.failure(code: 1002)]),
    (frame(0x80, hello), [.failure(code: 1002)]),
    (frame(0x01) + frame(0x81), [.failure(code: 1002)]),
    (frame(0x01) + frame(0x02), [.failure(code: 1002)]),
    (frame(0x89, Array(large.prefix(126))), [.failure(code: 1002)]),
    (frame(0x81, length: [127, 0x80, 0, 0, 0, 0, 0, 0, 0]), [.failure(code: 1009)]),
    (frame(0x81, length: [127, 0x7F, 255, 255, 255, 255, 255, 255, 255]), [.failure(code: 1009)]),
    (frame(0x81, large + [0x61]), [.failure(code: 1009)]),
    (frame(0x01, large) + frame(0x00, [1]), [.failure(code: 1009)]),
    (frame(0x81, [0xC3, 0x28]), [.failure(code: 1007)]),
    (frame(0x81, [0xED, 0xA0, 0x80]), [.failure(code: 1007)]),
  ]

  @Test(arguments: exchanges.indices)
  func `frames of clients are parsed`(index: Int) {
    let (bytes, events) = Self.exchanges[index]
    #expect(Self.parse([bytes]) == events)
  }

  @Test(arguments: exchanges.indices)
  func `any split gives the same events`(index: Int) {
    let (bytes, events) = Self.exchanges[index]
    #expect(Self.parse(bytes.map { [$0] }) == events)
    for cut in 0..<min(bytes.count, bytes.count > 1000 ? 16 : 40) {
      #expect(Self.parse([Array(bytes[..<cut]), Array(bytes[cut...])]) == events)
    }
  }

  @Test func `random bytes never trap`() {
    var random = SeededGenerator(seed: 9)
    for _ in 0..<5_000 {
      var parser = WebSocketParser(limit: 256)
      for _ in 0..<4 {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes[0] &= 0x8F
        bytes[1] |= 0x80
        _ = parser.process(bytes)
      }
    }
  }

  @Test func `the server's frames have the shortest length`() {
    #expect(WebSocketFrame.text(Self.hello) == [0x81, 5] + Self.hello)
    #expect(WebSocketFrame.text(Array(Self.large.prefix(125))).prefix(2) == [0x81, 125])
    #expect(WebSocketFrame.text(Array(Self.large.prefix(126))).prefix(4) == [0x81, 126, 0, 126])
    #expect(WebSocketFrame.text(Array(Self.large.dropLast())).prefix(4) == [0x81, 126, 255, 255])
    #expect(WebSocketFrame.text(Self.large).prefix(10) == [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
    #expect(WebSocketFrame.pong([1]) == [0x8A, 1, 1])
    #expect(WebSocketFrame.close(1001) == [0x88, 2, 0x03, 0xE9])
  }

  private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  @Test(
    arguments: [
      ("websocket", "Upgrade", "13", key, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
      (
        "h2c, WebSocket", "keep-alive, upgrade", " 13 ", " \(key)",
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
      ),
      ("websocket", "upgrade", "8", key, nil),
      ("websocket", "upgrade", nil, key, nil),
      ("h2c", "upgrade", "13", key, nil), (nil, "upgrade", "13", key, nil),
      ("websocket", "close", "13", key, nil),
      ("websocket", nil, "13", key, nil), ("websocket", "upgrade", "13", nil, nil),
      ("websocket", "upgrade", "13", "", nil),
      ("websocket", "upgrade", "13", "dGhlIHNhbXBsZSBub25jZQ", nil),
      ("websocket", "upgrade", "13", "AAAAdGhlIHNhbXBsZSBub25jZQ==", nil),
      ("websocket", "upgrade", "13", "dGhlIHNhbXBsZSBub25jZQ\r=", nil),
      ("websocket", "upgrade", "13", "dGhlIHNhbXBsZSBub25jZSE=", nil),
      ("websocketx", "upgrade", "13", key, nil),
    ] as [(String?, String?, String?, String?, String?)])
  func `a handshake is accepted or refused`(
    upgrade: String?, connection: String?, version: String?, key: String?,
    outcome: String?
  ) {
    var fields = HTTPFields()
    let names = ["Upgrade", "Connection", "Sec-WebSocket-Version", "Sec-WebSocket-Key"]
    for (name, value) in zip(names, [upgrade, connection, version, key]) {
      if let value { fields.append(name, value) }
    }
    #expect(fields.webSocketAnswer == outcome)
  }

  @Test func `a page that is not served any more says so to its sockets`() throws {
    let (pages, _, client) = try MemoryPages.proxy()
    client.send(
      """
      GET /livereload HTTP/1.1\r
      Host: localhost\r
      Connection: Upgrade\r
      Upgrade: websocket\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      \r

      """)
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 101"))
    pages.core.close("page")
    #expect(client.receiveBytes() == [0x88, 2, 0x03, 0xE9], "1001: going away")
    #expect(client.isEnded)
  }

  @Test(arguments: [
    ("", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="), ("abc", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="),
    ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "hJg+RBw70m66rkqh+VEp5eVGcPE="),
    (String(repeating: "a", count: 55), "wci73CJ5bijA4VFj0giZtlYh1lo="),
    (String(repeating: "a", count: 56), "wtszD2CDhUyZ1LW/tujynyAb5pk="),
    (String(repeating: "a", count: 63), "A/CfWxWKeoza2SC93Cm4HBilUfU="),
    (String(repeating: "a", count: 64), "AJi6gktcFkJ716ESKlpEKiXsZE0="),
    (String(repeating: "a", count: 1000), "KR6abGaZSUm1e6XmUDYemPw2sbo="),
  ])
  func `SHA-1 agrees with known values`(text: String, digest: String) {
    #expect(Base64.encode(SHA1.digest(Array(text.utf8))) == digest)
  }
}
