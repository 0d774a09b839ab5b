import Testing

@testable import LiveReload

/// The JSON that is written for pages.
struct JSONWriterTests {
  @Test func `commas and brackets come by themselves`() {
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
          $0.null()
          $0.json(Array("[7]".utf8))
        }
        $0.object("g") { _ in }
        $0.key("h")
        $0.value(nil as Bool?)
      }
    }
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"a":1,"b":"x","c":true,"d":null,"e":[1,null,[],{},{"f":false},null,[7]],"#
        + #""g":{},"h":null}"#
    )
  }

  @Test(arguments: [
    ("a", #""a""#), ("", #""""#), ("\"\\", #""\"\\""#), ("\n\r\t", #""\n\r\t""#),
    ("\r\n", #""\r\n""#),
    ("\u{0}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#), ("</script>", #""\u003c/script>""#),
    ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("é😀", #""é😀""#), ("e\u{301}", "\"e\u{301}\""),
  ])
  func `strings are escaped, for script elements too`(text: String, json: String) {
    let written = JSONWriter.encode { $0.value(text) }
    #expect(written == Array(json.utf8))
    #expect(JSONValue(parsing: written) == .string(text))
  }
}
