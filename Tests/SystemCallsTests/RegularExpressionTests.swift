import Testing

@testable import SystemCalls

struct RegularExpressionTests {
  private func groups(_ pattern: String, _ text: [UInt8]) throws -> [String]? {
    try RegularExpression(Array(pattern.utf8)).groups(in: text)?.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private func groups(_ pattern: String, _ text: String) throws -> [String]? {
    try groups(pattern, Array(text.utf8))
  }

  @Test func `it matches the whole text or nothing`() throws {
    #expect(try groups("a|ab", "ab") == ["ab"])
    #expect(try groups("b", "ab") == nil)
    #expect(try groups("a", "ab") == nil)
    #expect(try groups("a*", "") == [""])
  }

  @Test func `a group has its part of the text, and is empty if it takes no part`() throws {
    #expect(try groups("src/(.*)/([^/]*)[.]py", "src/a/b/c.py") == ["src/a/b/c.py", "a/b", "c"])
    #expect(try groups("(a)|(b)", "b") == ["b", "", "b"])
  }

  @Test func `any byte is a character`() throws {
    let text: [UInt8] = [0x61, 0xFF, 0x0A, 0xE9, 0x62]
    let expression = try RegularExpression(Array("a(.*)b".utf8))
    #expect(expression.groups(in: text)?.last.map(Array.init) == [0xFF, 0x0A, 0xE9])
    #expect(try groups("[^/]é", "äé") == nil && groups("..é", "äé") == ["äé"])
  }

  @Test func `a flaw has the words of the C library`() {
    #expect(throws: RegularExpression.Flaw.self) { try RegularExpression(Array("a(".utf8)) }
    #expect(throws: RegularExpression.Flaw.self) { try RegularExpression(Array("*".utf8)) }
  }
}
