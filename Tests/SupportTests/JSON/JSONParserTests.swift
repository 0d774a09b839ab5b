import Testing

@testable import Support

/// The positions of a key and its value, found by a path of keys.
private func positions(_ text: String, _ steps: String...) throws -> (key: String, value: String)? {
  let bytes = Array(text.utf8)
  var member: JSONValue.Member?
  var value = try JSONValue(parsing: bytes)
  for step in steps {
    guard let found = value.members.first(where: { $0.key == step }) else { return nil }
    member = found
    value = found.value
  }
  guard let member else { return nil }
  return (
    TextPosition(member.keyOffset, in: bytes).description,
    TextPosition(value.offset, in: bytes).description
  )
}

struct JSONParserTests {
  @Test(arguments: [
    ("1", 1), ("-0", 0), ("2.0", 2), ("1e15", 1_000_000_000_000_000), ("0.9", nil), ("1.5", nil),
    ("1e16", nil), ("NaN", nil), ("'1'", nil),
  ])
  func `only an integer is one`(text: String, int: Int?) throws {
    #expect(try JSONValue(parsing: Array(text.utf8)).int == int)
  }

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
      ("{ →: 1, a: 1 }", "1:9", "1:12"),
      ("{ a\u{A0}:1 }", "1:3", "1:6"),
      ("{\r\n\r\n  a: 1\r\n}", "3:3", "3:6"),
      ("{ é: 'ü', a: 1 }", "1:11", "1:14"),
      ("\u{FEFF}{ a: 1 }", "1:3", "1:6"),
      ("\u{FEFF}{\n a: 1 }", "2:2", "2:5"),
      ("{\t\ta:\t1 }", "1:4", "1:7"),
      ("{\u{A0}a:\u{2003}1\u{2028}}", "1:3", "1:6"),
      ("{ b: +.5e-3, c: 0x1F, d: -Infinity, a: NaN }", "1:37", "1:40"),
      ("{ a: 1, b: 2, a: 3 }", "1:3", "1:6"),
    ] as [(String, String, String)])
  func `a key and its value have positions`(text: String, key: String, value: String) throws {
    let found = try #require(try positions(text, "a"))
    #expect(found.key == key)
    #expect(found.value == value)
  }

  @Test func `positions are found within nested objects`() throws {
    let text = "{\n  tasks: {\n    build: {\n      run: 'make',\n    },\n  },\n}"
    let found = try #require(try positions(text, "tasks", "build", "run"))
    #expect(found.key == "4:7")
    #expect(found.value == "4:12")
  }

  @Test func `every member of a repeated key is kept, and the last one counts`() throws {
    let value = try JSONValue(parsing: Array("{ a: 1, b: [true, null], 'a': 'x' }".utf8))
    #expect(value.members.map(\.key) == ["a", "b", "a"])
    #expect(value["a"]?.content == .string("x"))
    #expect(value["b"]?.content == .array([.init(.boolean(true), at: 12), .init(.null, at: 18)]))
    #expect(value["c"] == nil)
  }

  @Test(
    arguments: [
      ("", "1:1", "the file is empty; write {}"),
      ("// nothing", "1:1", "the file is empty; write {}"),
      ("{ a: 1", "1:7", "the object that begins at 1:1 is not closed; add a '}'"),
      ("{", "1:2", "the object that begins at 1:1 is not closed; add a '}'"),
      ("{ a: [1, 2\n", "2:1", "the array that begins at 1:6 is not closed; add a ']'"),
      ("{ a: [1,", "1:9", "the array that begins at 1:6 is not closed; add a ']'"),
      ("{ a: 1 b: 2 }", "1:8", "expected ',' or '}', not 'b'"),
      ("{ a: [1 2] }", "1:9", "expected ',' or ']', not '2'"),
      ("{ a 1 }", "1:5", "expected ':' after the key 'a', not '1'"),
      ("{ a", "1:4", "expected ':' after the key 'a', not the end of the file"),
      ("{ a: }", "1:6", "expected a value, not '}'"),
      ("{ a: →1 }", "1:6", "'→1' is not a value; a string must be quoted"),
      ("{ a: 1,, }", "1:8", "expected a key, not ','; is there a comma too many?"),
      ("{ a-b: 1 }", "1:3", "a key that contains '-' must be quoted"),
      ("{ 1: 1 }", "1:3", "expected a key, not '1'; a key that begins with it must be quoted"),
      ("{ é*: 1 }", "1:4", "expected ':' after the key 'é', not '*'"),
      (
        "{ \\u0061: 1 }", "1:3",
        "expected a key, not '\\'; a key that begins with it must be quoted"
      ),
      ("{ a\\", "1:4", "expected ':' after the key 'a', not '\\'"),
      ("{ a: 1 } }", "1:10", "expected the end of the file, not '}'; is there a bracket too many?"),
      (
        "{ a: \"x\n\" }", "1:6",
        "this string is not closed on its line; close it with \", or write \\n for a line break"
      ),
      ("{ a: 'x", "1:6", "this string is not closed; close it with '"),
      ("{ a: 'x\\", "1:6", "this string is not closed; close it with '"),
      ("{ a: '\\q' }", "1:7", "this escape is unknown; write \\\\ for a backslash"),
      ("{ a: '\\01' }", "1:7", "this escape is unknown; write \\\\ for a backslash"),
      (
        "{ a: '\\u00g0' }", "1:7",
        "this escape must have 4 hexadecimal digits, as in \\u00e9"
      ),
      ("{ a: '\\x0' }", "1:7", "this escape must have 2 hexadecimal digits, as in \\xe9"),
      (
        "{ a: '\\ud83d' }", "1:7",
        "this half of a surrogate pair lacks the other half, as in \\ud83d\\ude00"
      ),
      ("{ a: 'b\tc' }", "1:8", "a control character in a string must be written as \\u0009"),
      ("{ a: tru }", "1:6", "'tru' is not a value; did you mean true?"),
      ("{ a: make }", "1:6", "'make' is not a value; a string must be quoted"),
      ("{ a: 10s }", "1:6", "'10s' is not a number; a string must be quoted"),
      ("{ a: 01 }", "1:6", "'01' is not a number; a string must be quoted"),
      ("{ a: 1e+ }", "1:6", "'1e+' is not a number; a string must be quoted"),
      ("{ /* a }", "1:3", "this comment is not closed; add */"),
      ("{ /*/ }", "1:3", "this comment is not closed; add */"),
      ("{ / a }", "1:3", "expected a comment, as in // or /* */"),
      ("{ a: 1e999 }", "1:6", "this number is too large"),
    ] as [(String, String, String)])
  func `an error is reported with its position`(
    text: String, position: String, message: String
  ) throws {
    let bytes = Array(text.utf8)
    let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
    #expect(error?.message == message)
    #expect(error.map { TextPosition($0.offset, in: bytes).description } == position)
  }

  @Test(arguments: [
    [0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B], [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D], [0],
  ])
  func `another encoding is reported as such`(text: [UInt8]) {
    let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    #expect(error?.offset == 0)
    #expect(
      error?.message == "the file is not in UTF-8 but UTF-16 or binary; save it as UTF-8")
  }

  @Test func `invalid UTF-8 is an error in strings and keys`() {
    let texts: [[UInt8]] = [
      Array("{a:'x".utf8) + [0xFF] + Array("'}".utf8), Array("{a".utf8) + [0xE2, 0x82],
      Array("{a: tr".utf8) + [0xC3], [0xF0, 0x9F], Array("[1 ".utf8) + [0xE2],
    ]
    for text in texts {
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    }
  }

  @Test(arguments: ["[", "{a:", "[[{a:[", "/**/[\n"])
  func `deep nesting is an error, not a stack overflow`(piece: String) throws {
    let text = Array(String(repeating: piece, count: 100_000).utf8)
    let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    #expect(error?.message == "objects and arrays are nested more than 64 deep")
  }

  @Test func `64 levels are allowed`() throws {
    let (opening, closing) = (String(repeating: "[", count: 64), String(repeating: "]", count: 64))
    #expect(try JSONValue(parsing: Array((opening + closing).utf8)).offset == 0)
    #expect(
      throws: JSONSyntaxError(
        offset: 64, message: "objects and arrays are nested more than 64 deep")
    ) {
      try JSONValue(parsing: Array(("[" + opening + closing + "]").utf8))
    }
  }
}
