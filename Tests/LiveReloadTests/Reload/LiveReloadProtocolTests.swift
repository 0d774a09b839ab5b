import TestSupport
import Testing

@testable import LiveReload

struct LiveReloadProtocolTests {
  private static let seven = "http://livereload.com/protocols/official-7"
  private static let hello =
    #"{"command":"hello","protocols":["http://x.test/8","\#(seven)"],"ver":"3"}"#
  private static let answer =
    #"{"command":"hello","protocols":["\#(seven)"],"serverName":"watchrun"}"#

  @Test func `a client receives one hello`() throws {
    var session = LiveReloadProtocol()
    #expect(!session.isReady)
    #expect(try session.receive(Array(Self.hello.utf8)) == Array(Self.answer.utf8))
    #expect(session.isReady)
    #expect(try session.receive(Array(Self.hello.utf8)) == nil)
  }

  @Test(arguments: [
    "", "{", "null", "[]", "{}", #"{"command":7}"#, #"{"command":"hello"}"#,
    #"{"command":"hello","protocols":[]}"#,
    #"{"command":"hello","protocols":"\#(seven)"}"#,
    #"{"command":"hello","protocols":["official-7"]}"#,
    #"{"command":"info"}"#, "\(hello)x", "\u{1}",
  ])
  func `a client of another protocol is disconnected`(text: String) {
    var session = LiveReloadProtocol()
    #expect(throws: LiveReloadProtocol.Violation.self) {
      try session.receive(Array(text.utf8))
    }
    #expect(!session.isReady)
  }

  @Test(arguments: [
    (#"{"command":"info","url":"http://localhost/","plugins":{"less":{"disable":false}}}"#, true),
    (#"{"command":"url"}"#, true), ("{", false), ("", false),
  ])
  func `commands after the hello are ignored`(text: String, isSound: Bool) throws {
    var session = LiveReloadProtocol()
    _ = try session.receive(Array(Self.hello.utf8))
    if isSound { return #expect(try session.receive(Array(text.utf8)) == nil) }
    #expect(throws: LiveReloadProtocol.Violation.self) {
      try session.receive(Array(text.utf8))
    }
  }

  @Test func `messages follow the protocol`() {
    #expect(
      LiveReloadProtocol.reload(path: "/a \"b\".css")
        == Array(#"{"command":"reload","path":"/a \"b\".css","liveCSS":true,"liveImg":true}"#.utf8))
  }

  @Test func `random texts never trap`() {
    var random = SeededGenerator(seed: 5)
    let pieces = [
      "{", "}", "[", "]", "\"", ":", ",", "\\", "u", "d800", "1", "-", "e", ".", "null", " ",
    ]
    for _ in 0..<5_000 {
      let text = (0..<12).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      var session = LiveReloadProtocol()
      #expect(throws: LiveReloadProtocol.Violation.self) {
        try session.receive(Array(text.utf8))
      }
    }
  }
}
