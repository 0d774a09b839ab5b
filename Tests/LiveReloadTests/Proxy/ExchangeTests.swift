import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

/// What passes through the proxy, compared byte by byte with what the server alone receives and sends. Sockets are real.
struct ExchangeTests {
  /// The request that follows each one on the same connection, and its answer.
  private static let next = "GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n"
  private static let nextAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"

  @Test(arguments: ExchangeRow.requests + ExchangeRow.answers)
  func `an exchange passes as if the server were alone`(row: ExchangeRow) async throws {
    let pages = try ServedPages()
    let listener = try Socket.listen(at: "127.0.0.1", port: 0)
    let address = ServerAddress(host: "127.0.0.1", port: Socket.port(of: listener))
    let port = try pages.open(Page(name: "page", source: .upstream(address), port: freePort()))
    let server = Task { [number = listener.number] in try await Self.serve(row, at: number) }
    let client = try RawClient(port: port)
    let (next, nextAnswer) = row.clientIsClosed ? ("", "") : (Self.next, Self.nextAnswer)
    // Pipelined: what is too long or too short shifts the second answer.
    let isSent = await client.send(row.request + next)
    let expected = row.delivered + nextAnswer
    let (text, isClosed) = await client.receive(attempts: 1000) { text in
      !row.clientIsClosed && text.utf8.count >= expected.utf8.count
        && ExchangeRow.normalized(text).utf8.count >= expected.utf8.count
    }
    #expect(ExchangeRow.normalized(text) == expected)
    #expect(isClosed == row.clientIsClosed)
    server.cancel()
    let arrived = try await server.value
    if row.isEarly { return }
    #expect(isSent)
    #expect(arrived == row.arriving)
  }

  /// Answers the request of a row, and the next one. Returns what has arrived of the first.
  private static func serve(
    _ row: ExchangeRow, at listener: Int32
  ) async throws -> String {
    var arrived: String?
    while !Task.isCancelled {
      guard let (number, _) = try Socket.accept(from: listener) else {
        try? await Task.sleep(for: .milliseconds(1))
        continue
      }
      let connection = RawClient(Descriptor(owning: number))
      if arrived == nil {
        let (text, _) = await connection.receive(attempts: 500) { text in
          row.isEarly
            ? text.utf8.firstRange(of: "\r\n\r\n".utf8) != nil
            : ExchangeRow.normalized(text).utf8.count >= row.arriving.utf8.count
        }
        arrived = ExchangeRow.normalized(text)
        _ = await connection.send(row.answer)
        if row.serverCloses {
          if row.clientIsClosed { break }
          continue
        }
      }
      let (text, isClosed) = await connection.receive(attempts: 1000) { $0.hasSuffix("\r\n\r\n") }
      if isClosed && text.isEmpty { continue }
      _ = await connection.send(nextAnswer)
      _ = await connection.receive(attempts: 1000)
      break
    }
    return arrived ?? ""
  }
}
