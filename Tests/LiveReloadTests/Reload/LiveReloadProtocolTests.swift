import TestSupport
import Testing

@testable import LiveReload

/// The LiveReload protocol 7, and the JSON that its clients send.
struct LiveReloadProtocolTests {
  private static let seven = "http://livereload.com/protocols/official-7"
  private static let hello =
    #"{"command":"hello","protocols":["http://x.test/8","\#(seven)"],"ver":"3"}"#
  private static let answer =
    #"{"command":"hello","protocols":["\#(seven)"],"serverName":"watchrun"}"#

  @Test func `a client is greeted once`() {
    var session = LiveReloadProtocol()
    #expect(!session.isReady)
    #expect(session.receive(Array(Self.hello.utf8)) == .send(Array(Self.answer.utf8)))
    #expect(session.isReady)
    #expect(session.receive(Array(Self.hello.utf8)) == .ignore)
  }

  @Test(arguments: [
    "", "{", "null", "[]", "{}", #"{"command":7}"#, #"{"command":"hello"}"#,
    #"{"command":"hello","protocols":[]}"#,
    #"{"command":"hello","protocols":"\#(seven)"}"#,
    #"{"command":"hello","protocols":["official-7"]}"#,
    #"{"command":"info"}"#, "\(hello)x", "\u{1}",
  ])
  func `a client that speaks something else is sent away`(text: String) {
    var session = LiveReloadProtocol()
    #expect(session.receive(Array(text.utf8)) == .close)
    #expect(!session.isReady)
  }

  @Test(arguments: [
    (
      #"{"command":"info","url":"http://localhost/","plugins":{"less":{"disable":false}}}"#,
      LiveReloadProtocol.Reaction.ignore
    ),
    (#"{"command":"url"}"#, .ignore), ("{", .close), ("", .close),
  ])
  func `after the greeting, commands are ignored`(
    text: String, reaction: LiveReloadProtocol.Reaction
  ) {
    var session = LiveReloadProtocol()
    _ = session.receive(Array(Self.hello.utf8))
    #expect(session.receive(Array(text.utf8)) == reaction)
  }

  @Test func `messages are those of the protocol`() {
    #expect(
      LiveReloadProtocol.reload(path: "/a \"b\".css")
        == Array(#"{"command":"reload","path":"/a \"b\".css","liveCSS":true,"liveImg":true}"#.utf8))
    #expect(
      LiveReloadProtocol.alert("x") == Array(#"{"command":"alert","message":"x"}"#.utf8))
  }

  @Test(
    arguments: [
      ("\"a\"", .string("a")),
      (#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#, .string("\"\\/\u{8}\u{C}\n\r\tAé😀")),
      (" [ ] ", .array([])),
      ("[1,-0,2.5e+3,true,false,null]", .array(Array(repeating: .other, count: 6))),
      (#"{"a":{"b":["c"]},"a":"d"}"#, .object(["a": .string("d")])), ("{}", .object([:])),
      ("0", .other), ("1E9", .other),
      (
        String(repeating: "[", count: 15) + "1" + String(repeating: "]", count: 15),
        .some(nested(15))
      ),
      ("", nil), ("[", nil), ("[1,]", nil), ("[1 2]", nil), ("{\"a\"}", nil), ("{a:1}", nil),
      ("{\"a\":1,}", nil), ("01", nil), ("1.", nil),
      ("-", nil), (".5", nil), ("1e", nil), ("+1", nil), ("tru", nil), ("nullx", nil), ("\"a", nil),
      ("\"\n\"", nil), (#""\x""#, nil),
      (#""\u12""#, nil), (#""\ud800""#, nil), (#""\ud800\u0041""#, nil), (#""\udc00""#, nil),
      ("'a'", nil), ("1 1", nil), ("\u{FEFF}1", nil),
      (String(repeating: "[", count: 60_000), nil),
      (String(repeating: " ", count: 70_000) + "1", nil),
      (String(repeating: "[", count: 16) + "1" + String(repeating: "]", count: 16), nil),
      ("{\"a\":", nil), ("]", nil), ("NaN", nil),
    ] as [(String, JSONValue?)])
  func `JSON is read strictly`(text: String, value: JSONValue?) {
    #expect(JSONValue(parsing: Array(text.utf8)) == value)
  }

  private static func nested(_ depth: Int) -> JSONValue {
    depth == 0 ? .other : .array([nested(depth - 1)])
  }

  @Test func `a string that is not UTF-8 is malformed`() {
    #expect(JSONValue(parsing: [0x22, 0xFF, 0x22]) == nil)
  }

  @Test func `random texts never trap`() {
    var random = SeededGenerator(seed: 5)
    let pieces = [
      "{", "}", "[", "]", "\"", ":", ",", "\\", "u", "d800", "1", "-", "e", ".", "null", " ",
    ]
    for _ in 0..<5_000 {
      let text = (0..<12).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      var session = LiveReloadProtocol()
      #expect(session.receive(Array(text.utf8)) == .close)
    }
  }
}
