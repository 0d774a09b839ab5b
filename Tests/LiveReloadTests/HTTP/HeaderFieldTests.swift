import Testing

@testable import LiveReload

/// Which fields a page can add to its answers.
struct HeaderFieldTests {
  @Test(arguments: [
    ("X-A", "1", "1"), ("x!#$%&'*+-.^_`|~9", "a: b, c;\t\"d\"", "a: b, c;\t\"d\""), ("A", "", ""),
    ("A", " \té ", "é"),
  ])
  func `a name is a token, and a value has any text`(
    name: String, value: String, trimmed: String
  ) throws {
    let field = try HeaderField(name: name, value: value)
    #expect(field.name == name && field.value == trimmed)
  }

  @Test(
    arguments: [
      ("", "x", .invalidName), ("A B", "x", .invalidName), ("A:", "x", .invalidName),
      ("é", "x", .invalidName), ("A\r\nB", "x", .invalidName), ("A", "x\r\nB: y", .invalidValue),
      ("A", "x\ny", .invalidValue), ("A", "\r", .invalidValue), ("A", "\u{0}", .invalidValue),
      ("A", "\u{1B}[1m", .invalidValue), ("A", "\u{7F}", .invalidValue),
      ("Content-Length", "1", .reserved), ("transfer-ENCODING", "chunked", .reserved),
      ("Connection", "close", .reserved), ("Content-Type", "text/html", .reserved),
    ] as [(String, String, HeaderField.Problem)])
  func `another answer cannot be smuggled in, and framing is not changed`(
    name: String, value: String, problem: HeaderField.Problem
  ) {
    #expect(throws: problem) { try HeaderField(name: name, value: value) }
  }
}
