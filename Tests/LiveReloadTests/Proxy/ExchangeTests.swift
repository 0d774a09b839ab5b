import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// What passes through the proxy, compared byte by byte with what the server alone receives and sends. Sockets are real.
struct ExchangeTests {
  /// The request that follows each one on the same connection, and its answer.
  private static let next = "GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n"
  private static let nextAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"

  // Does not suspend: while other tests run, the deadlines of the proxy could pass.
  @Test(
    arguments: (ExchangeRow.requests + ExchangeRow.answers).enumerated().filter { place, _ in
      Effort.isFull || place.isMultiple(of: 2)
    }.map(\.element))
  func `an exchange passes as if the server were alone`(row: ExchangeRow) throws {
    let pages = try ServedPages()
    let listener = try Socket.listen(at: "127.0.0.1", port: 0)
    let address = ServerAddress(host: "127.0.0.1", port: Socket.port(of: listener))
    let port = try pages.open(Page(name: "page", source: .upstream(address), port: freePort()))
    let client = ScriptedEnd(try Socket.connect(to: "127.0.0.1", port: port))
    // Pipelined: what is too long or too short shifts the second answer.
    client.send(row.request + (row.clientIsClosed ? "" : Self.next))
    let expected = row.delivered + (row.clientIsClosed ? "" : Self.nextAnswer)
    var server: ScriptedEnd?
    var arrived: String?
    for _ in 0..<5_000 {
      client.exchange()
      if row.clientIsClosed ? client.isEnded : client.text.utf8.count >= expected.utf8.count {
        break
      }
      if server == nil, let (socket, _) = try Socket.accept(from: listener.number) {
        server = ScriptedEnd(Descriptor(owning: socket))
      }
      server?.exchange(reads: !row.isEarly || arrived == nil)
      if let end = server {
        if arrived == nil,
          row.isEarly ? end.hasHead : end.text.utf8.count >= row.arriving.utf8.count
        {
          arrived = end.takeText()
          end.send(row.answer)
        } else if arrived != nil, end.text == Self.next {
          _ = end.takeText()
          end.send(Self.nextAnswer)
        }
        if end.isEnded || row.serverCloses && arrived != nil && end.hasSent {
          server = nil
        }
      }
      usleep(1000)
    }
    #expect(client.text == expected)
    #expect(client.isEnded == row.clientIsClosed)
    if !row.isEarly { #expect(arrived == row.arriving) }
  }
}

/// One end of a connection, which does not block.
private final class ScriptedEnd {
  private let socket: Descriptor
  private var incoming: [UInt8] = []
  private var outgoing: [UInt8] = []
  private(set) var isEnded = false
  private var isAnswering = false

  init(_ socket: consuming Descriptor) {
    self.socket = socket
  }

  func send(_ text: String) {
    outgoing += text.utf8
    isAnswering = true
  }

  var hasSent: Bool { isAnswering && outgoing.isEmpty }

  /// What has arrived, as a row has it.
  private(set) var text = ""
  var hasHead: Bool { incoming.firstRange(of: "\r\n\r\n".utf8) != nil }

  func takeText() -> String {
    defer { (incoming, text) = ([], "") }
    return text
  }

  /// Sends and receives what is possible now.
  func exchange(reads: Bool = true) {
    if !outgoing.isEmpty,
      case .count(let count) = outgoing.withUnsafeBytes({ Socket.send($0, to: socket.number) })
    {
      outgoing.removeFirst(count)
    }
    if !reads || isEnded { return }
    withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { buffer in
      guard let count = Socket.receive(into: buffer, from: socket.number) else { return }
      if count == 0 { return isEnded = true }
      incoming += buffer[..<count]
      text = ExchangeRow.normalized(String(decoding: incoming, as: UTF8.self))
    }
  }
}
