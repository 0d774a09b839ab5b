import TestSupport
import Testing

@testable import WatchrunCommandLine

/// Where the key is that leads there by these steps, and its value.
private func places(_ text: String, _ steps: String...) throws -> (key: String, value: String)? {
  let bytes = Array(text.utf8)
  var member: JSONPlaces.Member?
  var place = try JSONPlaces(bytes).top
  for step in steps {
    guard let found = place.members.first(where: { $0.key == step }) else { return nil }
    member = found
    place = found.value
  }
  guard let member else { return nil }
  return (
    TextPosition(member.keyOffset, in: bytes).description,
    TextPosition(place.range.lowerBound, in: bytes).description
  )
}

struct JSONPlacesTests {
  @Test(
    arguments: [
      (#"{"a": 1}"#, "1:2", "1:7"),
      ("{a:1}", "1:2", "1:4"),
      ("{'a' : 1}", "1:2", "1:8"),
      ("{ // a: 2,\n  a: 1 }", "2:3", "2:6"),
      ("{ /* a: 2,\n a: 3 */ a: 1 }", "2:10", "2:13"),
      ("{ b: \"a: \\\" a:\", a: 1 }", "1:18", "1:21"),
      ("{ b: 'a: \\' \" a:', a: 1 }", "1:20", "1:23"),
      ("{ b: \"x\\\n a: 1\", a: 1 }", "2:9", "2:12"),
      ("{ b: [1, {a: 2}, ], a: [1, 2,], }", "1:21", "1:24"),
      ("{ \"\\u0061\": 1 }", "1:3", "1:13"),
      ("{\r\n\r\n  a: 1\r\n}", "3:3", "3:6"),
      ("{ é: 'ü', a: 1 }", "1:11", "1:14"),
      ("\u{FEFF}{ a: 1 }", "1:3", "1:6"),
      ("\u{FEFF}{\n a: 1 }", "2:2", "2:5"),
      ("{\t\ta:\t1 }", "1:4", "1:7"),
      ("{ b: +.5e-3, c: 0x1F, d: -Infinity, a: NaN }", "1:37", "1:40"),
    ] as [(String, String, String)])
  func `a key and its value are found`(text: String, key: String, value: String) throws {
    let found = try #require(try places(text, "a"))
    #expect(found.key == key)
    #expect(found.value == value)
  }

  @Test func `keys are found within tables within tables`() throws {
    let text = "{\n  tasks: {\n    build: {\n      run: 'make',\n    },\n  },\n}"
    let found = try #require(try places(text, "tasks", "build", "run"))
    #expect(found.key == "4:7")
    #expect(found.value == "4:12")
  }

  @Test(
    arguments: [
      ("", "1:1", "is empty; write { tasks: { … } }"),
      ("// nothing", "1:1", "is empty; write { tasks: { … } }"),
      ("{ a: 1", "1:7", "a '}' is missing: what begins at 1:1 has no end"),
      ("{ a: [1, 2\n", "2:1", "a ']' is missing: what begins at 1:6 has no end"),
      ("{ a: 1 b: 2 }", "1:8", "expected ',' or '}', not 'b'"),
      ("{ a: [1 2] }", "1:9", "expected ',' or ']', not '2'"),
      ("{ a 1 }", "1:5", "expected ':' behind the key 'a', not '1'"),
      ("{ a: }", "1:6", "expected a value, not '}'"),
      ("{ a: 1,, }", "1:8", "expected a key, not ','; is there a comma too many?"),
      ("{ a-b: 1 }", "1:3", "a key that holds '-' stands between quotes"),
      ("{ 1: 1 }", "1:3", "expected a key, not '1'; if that begins one, put it between quotes"),
      ("{ a: 1 } }", "1:10", "'}' stands behind the end of it; is there a bracket too many?"),
      (
        "{ a: \"x\n\" }", "1:6",
        "this string has no end in its line; close it with \", or write \\n for a new line"
      ),
      ("{ a: 'x", "1:6", "this string has no end"),
      ("{ a: '\\q' }", "1:7", "JSON has no such escape; write \\\\ for a backslash"),
      ("{ a: '\\u00g0' }", "1:7", "behind \\u stand four digits, as in \\u00e9"),
      ("{ a: '\\ud83d' }", "1:7", "this half of a character is missing the other half"),
      ("{ a: 'b\tc' }", "1:8", "a control character stands in this string; write it as \\u0009"),
      ("{ a: tru }", "1:6", "'tru' is no value; did you mean true?"),
      ("{ a: make }", "1:6", "'make' is no value: a text stands between quotes"),
      ("{ a: 10s }", "1:6", "'10s' is no number; a text stands between quotes"),
      ("{ a: 01 }", "1:6", "'01' is no number; a text stands between quotes"),
      ("{ /* a }", "1:3", "this comment has no end; write */ behind it"),
      ("{ / a }", "1:3", "expected a comment, as in // or /* */"),
      ("{ \u{A0}a: 1 }", "1:3", "this is no plain space, but U+00A0; write a plain one"),
      ("{ a:\u{2003}1 }", "1:5", "this is no plain space, but U+2003; write a plain one"),
      ("{ é→: 1 }", "1:3", "expected a key, not '→'; if that begins one, put it between quotes"),
      ("{ a: 1e999 }", "1:6", "this number is larger than any that can be read"),
    ] as [(String, String, String)])
  func `a fault is told of with its place`(text: String, position: String, message: String) throws {
    let bytes = Array(text.utf8)
    let fault = #expect(throws: JSONPlaces.Fault.self) { try JSONPlaces(bytes) }
    #expect(fault?.message == message)
    #expect(fault.map { TextPosition($0.offset, in: bytes).description } == position)
  }

  @Test func `a text in another encoding is told of as that`() {
    let fault = #expect(throws: JSONPlaces.Fault.self) { try JSONPlaces([0xFF, 0xFE, 0x7B, 0]) }
    #expect(fault == JSONPlaces.Fault(offset: 0, message: "is written in UTF-16; save it as UTF-8"))
  }

  @Test func `what is nested too deeply is a fault, and no crash`() throws {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: JSONPlaces.Fault.self) { try JSONPlaces(Array(text.utf8)) }
  }

  /// The scanner may be stricter than the decoder, which lets some things pass that no one means.
  @Test(arguments: 0..<20)
  func `what the scanner takes, the decoder takes, and they see the same`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "{", "}", "[", "]", ",", ":", "a", "\"b\"", "'c'", "1", "-2.5", "true", "null", " ", "\n",
      "// x\n", "/* y */", "\\", "'", "\"", "é", "$_", "0x1f", ".5", "1.", "+1", "1e3", "Infinity",
    ]
    var taken = 0
    for _ in 0..<3000 {
      var text = "{a:"
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        text += pieces.randomElement(using: &random) ?? ""
      }
      text += ["}", ",}", "}}", "]}"].randomElement(using: &random) ?? ""
      guard (try? JSONPlaces(Array(text.utf8))) != nil else { continue }
      taken += 1
      #expect((try? LocatedValue(Array(text.utf8))) != nil, "\(text)")
    }
    #expect(taken > 20)
  }
}
