import SystemCalls
import Testing

struct PrintableTextTests {
  @Test(arguments: [
    ("plain text", "plain text"), ("caf\u{E9} \u{1F600}", "caf\u{E9} \u{1F600}"),
    ("a\nb\tc", #"a\nb\tc"#),
    ("\u{1B}[2J", #"\u{1B}[2J"#), ("a\0b", #"a\0b"#), ("\u{202E}x", #"\u{202E}x"#),
    ("\u{2028}", #"\u{2028}"#), ("\t", #"\t"#), ("\u{7F}\u{7}", #"\u{7F}\u{07}"#),
    ("\u{9B}31m", #"\u{009B}31m"#),
  ])
  func `text cannot send commands to a terminal`(text: String, shown: String) {
    #expect(text.printable == shown)
  }

  @Test func `invalid UTF-8 is replaced`() {
    #expect(([0x61, 0xFF] as [UInt8]).printable == "a\u{FFFD}")
  }
}
