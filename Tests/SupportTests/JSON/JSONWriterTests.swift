import Testing

@testable import Support

struct JSONWriterTests {
  @Test func `commas and brackets are added`() {
    let json = JSONWriter.encode { writer in
      writer.object {
        $0.member("a", 1)
        $0.member("b", "x")
        $0.member("c", true)
        $0.member("d", nil as Int?)
        $0.array("e") {
          $0.value(1)
          $0.value(nil as String?)
          $0.array { _ in }
          $0.object { _ in }
          $0.object { $0.member("f", false) }
          $0.value(nil as Bool?)
        }
        _ = $0.member("g", ascii: Array("/p".utf8))
      }
    }
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"a":1,"b":"x","c":true,"d":null,"e":[1,null,[],{},{"f":false},null],"#
        + #""g":"/p"}"#
    )
  }

  @Test(arguments: [
    ("a", #""a""#), ("", #""""#), ("\"\\", #""\"\\""#), ("\n\r\t", #""\n\r\t""#),
    ("\r\n", #""\r\n""#),
    ("\u{0}\u{1B}\u{1F}\u{7F}", #""\u0000\u001b\u001f\u007f""#), ("/<", #""/<""#),
    ("é😀", #""é😀""#), ("e\u{301}", "\"e\u{301}\""),
  ])
  func `a string is quoted, and escaped as JSON requires`(text: String, json: String)
    throws
  {
    let written = JSONWriter.encode { $0.value(text) }
    #expect(written == Array(json.utf8))
    #expect(String(decoding: written, as: UTF8.self) == JSONWriter.quoted(text))
    #expect(try JSONValue(parsing: written).content == .string(text))
  }

  @Test func `only bytes that need no escape are written as ASCII`() {
    for byte in UInt8.min...UInt8.max {
      var writer = JSONWriter()
      let isWritten = writer.member("a", ascii: [0x61, byte])
      let isPlain = (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
      #expect(isWritten == isPlain && writer.bytes.isEmpty != isPlain, "\(byte)")
    }
  }
}
