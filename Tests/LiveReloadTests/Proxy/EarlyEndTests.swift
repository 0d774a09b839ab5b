import Testing

@testable import LiveReload

/// Answers before the end of a request, and clients that go before the end of an answer. Sockets are in memory, and
/// time is manual.
struct EarlyEndTests {
  private let pages: MemoryPages
  private let listener: MemoryListener
  private let client: MemorySocket

  init() throws {
    (pages, listener, client) = try MemoryPages.proxy()
  }

  private static let refusal = "HTTP/1.1 413 Large\r\nContent-Length: 3\r\n\r\nbig"

  @Test(arguments: ["Content-Length: 50000", "Transfer-Encoding: chunked"])
  func `an answer to a body that the server does not read is delivered`(framing: String) throws {
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\n\(framing)\r\n\r\n")
    let server = try #require(listener.next())
    _ = server.receiveAll()
    // The body is sent on before the answer is read.
    _ = client.send(Array("32\r\n\(String(repeating: "0", count: 50))\r\n".utf8))
    _ = server.send(Array(Self.refusal.utf8))
    server.close()
    let answer = client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.hasSuffix("big"))
    #expect(answer.contains("Connection: close\r\n"))
  }

  @Test func `a server that ends within a body without an answer is an error`() throws {
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n")
    let server = try #require(listener.next())
    _ = client.send(Array(repeating: UInt8(ascii: "0"), count: 50))
    server.close()
    #expect(client.receiveAll().hasPrefix("HTTP/1.1 502 "))
  }

  private func request(_ fields: String) throws -> MemorySocket {
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    return try #require(listener.next())
  }

  private static let stream = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n1\n"

  @Test(arguments: ["", stream])
  func `a server learns at once that a browser has gone`(answer: String) throws {
    let server = try request("Sec-Fetch-Mode: cors\r\n")
    if !answer.isEmpty { server.send(answer) }
    #expect(!server.isEnded)
    client.close()
    pages.network.run()
    #expect(server.isEnded)
  }

  @Test func `a server learns that a client has gone which waits for its answer`() throws {
    let server = try request("")
    client.close()
    pages.network.run()
    #expect(!server.isEnded, "it may only have ended its side")
    pages.network.advance(seconds: 5)
    #expect(server.isEnded)
    pages.network.advance(seconds: 60)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test(arguments: ["1.0", "1.1"], ["", stream])
  func `a client that has ended its side receives what comes after a pause`(
    version: String, start: String
  ) throws {
    client.send("GET / HTTP/\(version)\r\nHost: localhost\r\n\r\n")
    let server = try #require(listener.next())
    if !start.isEmpty { server.send(start) }
    client.shutDownWriting()
    for _ in 0..<100 { pages.network.advance(seconds: 10) }
    server.send((start.isEmpty ? Self.stream : "") + "end")
    server.close()
    #expect(client.receiveAll().contains("end"))
    #expect(client.isEnded)
  }

  @Test(arguments: ["1.0", "1.1"])
  func `a server learns that a client has gone which has ended its side`(version: String) throws {
    client.send("GET / HTTP/\(version)\r\nHost: localhost\r\n\r\n")
    let server = try #require(listener.next())
    server.send(Self.stream)
    client.shutDownWriting()
    for _ in 0..<10 { pages.network.advance(seconds: 10) }
    #expect(!server.isEnded)
    client.vanish()
    pages.network.run()
    #expect(server.isEnded)
    #expect(pages.network.scheduler.pendingCount == 0)
  }

  @Test func `a client that has ended its side receives an answer that comes late`() throws {
    let server = try request("")
    client.shutDownWriting()
    pages.network.advance(seconds: 2)
    #expect(client.receiveAll().isEmpty)
    pages.network.advance(seconds: 60)
    #expect(!server.isEnded)
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
    #expect(
      client.receiveAll().wholeMatch(
        of: /(HTTP\/1.1 100 Continue\r\n\r\n)+HTTP\/1.1 200 .*late/.dotMatchesNewlines()) != nil)
    #expect(client.isEnded)
  }

  @Test func `a client that has ended its side receives what comes`() throws {
    let server = try request("")
    client.shutDownWriting()
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    for part in ["1", "2", "3", "4", "5"] {
      pages.network.advance(seconds: 2)
      server.send(part)
    }
    #expect(client.receiveAll().hasSuffix("12345"))
    #expect(client.isEnded)
  }

  @Test func `a client that ends its side after several requests receives all answers`() throws {
    client.send(
      "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\nGET")
    client.shutDownWriting()
    let server = try #require(listener.next())
    for number in ["1", "2"] {
      #expect(server.receiveAll().hasPrefix("GET /\(number) "))
      pages.network.advance(seconds: 1)
      server.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nanswer\(number)")
    }
    let answers = client.receiveAll()
    #expect(answers.contains("answer1") && answers.contains("answer2"))
    #expect(client.isEnded)
  }
}
