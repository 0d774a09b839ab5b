import Support
import TestSupport
import Testing

@testable import LiveReload

/// The rendering of a command's output.
struct TerminalTextTests {
  /// The lines as `{classes|text}`, plain text without braces.
  private static func render(_ lines: [[UInt8]]) -> String {
    var terminal = TerminalText()
    return lines.map { line in
      terminal.line(line).map { span in
        span.style.classes.isEmpty ? span.text : "{\(span.style.classes)|\(span.text)}"
      }.joined()
    }.joined(separator: "⏎")
  }

  private static func render(_ text: String) -> String {
    render(text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) })
  }

  @Test(arguments: [
    ("a", "a"), ("", ""), ("\u{1B}[31mred\u{1B}[0m plain", "{f1|red} plain"),
    ("\u{1B}[31mred\u{1B}[m plain", "{f1|red} plain"),
    ("\u{1B}[1;2;3;4;9ma", "{b d i u s|a}"), ("\u{1B}[1;2;3;4;9m\u{1B}[22;23;24;29ma", "a"),
    ("\u{1B}[91;102ma\u{1B}[39mb\u{1B}[49mc", "{f9 g10|a}{g10|b}c"), ("\u{1B}[;1ma", "{b|a}"),
    ("\u{1B}[1ma\u{1B}[;mb", "{b|a}b"), ("\u{1B}[1ma\u{1B}[31;0;4mb", "{b|a}{u|b}"),
    ("\u{1B}[47;30ma", "{f0 g7|a}"),
    ("\u{1B}[38;5;1ma", "{f1|a}"), ("\u{1B}[38;5;16ma", "{f#000000|a}"),
    ("\u{1B}[38;5;196ma", "{f#ff0000|a}"), ("\u{1B}[48;5;232ma", "{g#080808|a}"),
    ("\u{1B}[48;5;255ma", "{g#eeeeee|a}"), ("\u{1B}[38;5;256ma", "a"),
    ("\u{1B}[38;2;1;2;255;1ma", "{b f#0102ff|a}"), ("\u{1B}[38:2::1:2:3ma", "{f#010203|a}"),
    ("\u{1B}[38:2:1:2:3ma", "{f#010203|a}"), ("\u{1B}[48:5:9;1ma", "{b g9|a}"),
    ("\u{1B}[38;2;256;0;0ma", "a"), ("\u{1B}[38ma", "a"), ("\u{1B}[38;2;1ma", "a"),
    ("\u{1B}[38;9;1ma", "{b|a}"), ("\u{1B}[58;5;1;1ma", "{b|a}"),
    ("\u{1B}[58:2::1:2:3;3ma", "{i|a}"),
    ("\u{1B}[4:3ma\u{1B}[4:0mb", "{u|a}b"), ("\u{1B}[21ma", "{u|a}"),
    ("\u{1B}[99999999999999999999ma", "a"),
    ("\u{1B}[7ma\u{1B}[31mb\u{1B}[27mc", "{f0 g7|a}{f0 g1|b}{f1|c}"),
    ("\u{1B}[7;42;31ma", "{f2 g1|a}"),
    ("\u{1B}[31ma\nb\u{1B}[0m\nc", "{f1|a}⏎{f1|b}⏎c"), ("\u{1B}[31ma\u{1B}cb", "{f1|a}b"),
  ])
  func `colours and effects carry over to the next lines`(text: String, rendered: String) {
    #expect(Self.render(text) == rendered)
  }

  @Test(arguments: [
    ("a\u{1B}[2Jb\u{1B}[10;20Hc\u{1B}[?25ld\u{1B}[>4;1me", "abcde"), ("a\u{1B}[1 qb", "ab"),
    ("a\u{1B}]0;title\u{7}b\u{1B}]0;title\u{1B}\\c", "abc"),
    ("\u{1B}]8;;http://x.test\u{1B}\\link\u{1B}]8;;\u{1B}\\!", "link!"),
    ("a\u{1B}(Bb\u{1B})0c\u{1B}#8d\u{1B}=e\u{1B}7f", "abcdef"),
    ("a\u{1B}P1$r\u{7}x\u{1B}\\b", "ab"),
    ("a\u{1B}_x\u{1B}\\b\u{1B}^x\u{1B}\\c", "abc"), ("a\u{1B}", "a"), ("a\u{1B}[", "a"),
    ("a\u{1B}[31", "a"),
    ("a\u{1B}]x\nb", "a⏎b"), ("\u{1B}[3\u{1B}[31ma", "{f1|a}"), ("\u{1B}]x\u{1B}[31ma", "{f1|a}"),
    ("\u{9B}31ma\u{9D}0;t\u{9C}b", "{f1|ab}"), ("a\u{85}\u{0}\u{7}\u{7F}b\tc", "ab\tc"),
    ("\u{1B}\u{1B}[1ma", "{b|a}"), ("\u{1B}[3é", "é"), ("\u{1B}é", "é"), ("\u{1B}[!pa", "a"),
    ("\u{1B}[1$ma", "a"),
    ("a\u{202E}b\u{202C}\u{2067}c\u{2069}", "abc"),
  ])
  func `other sequences and control characters are dropped`(text: String, rendered: String) {
    #expect(Self.render(text) == rendered)
  }

  @Test(arguments: [
    ("10%\r50%\r100%", "100%"), ("abc\rX", "X"), ("abc\r", "abc"), ("abc\r\u{1B}[KX", "X"),
    ("abc\r\u{1B}[2KX", "X"), ("abc\u{1B}[2K\u{1B}[1GX", "X"), ("abc\u{1B}[2KX", "X"),
    ("abc\u{1B}[2GX", "abcX"), ("abc\u{1B}[1KX", "abcX"), ("ab\u{8}c", "ac"),
    ("\u{8}\u{8}a", "a"), ("a\u{1B}[31mb\u{8}\u{1B}[mc", "ac"),
    ("|\u{8}/\u{8}-\u{8}done", "done"), ("\u{1B}[31mabc\r\u{1B}[32mX", "{f2|X}"),
    ("\u{1B}[31ma\n\u{1B}[0mb\rX\nc", "{f1|a}⏎X⏎c"),
    ("a\u{1B}[5Gb", "ab"), ("e\u{301}x\rE", "E"), ("a\u{1B}[0Gb", "b"),
    ("\u{301}a", "\u{301}a"),
  ])
  func `text replaces what it overwrites`(text: String, rendered: String) {
    #expect(Self.render(text).unicodeScalars.elementsEqual(rendered.unicodeScalars))
  }

  @Test func `bytes that are not UTF-8 are repaired`() {
    #expect(Self.render([[0x61, 0xFF, 0x62, 0xC3]]) == "a\u{FFFD}b\u{FFFD}")
  }

  @Test func `the length of a line is limited`() {
    let long = [UInt8](repeating: 0x61, count: 100_000)
    let text = Self.render([long])
    #expect(text.count == 2_001 && text.hasSuffix("a…"))
    #expect(Self.render([Array(long.prefix(2_000))]).hasSuffix("aa"))
    #expect(Self.render([long + "\r".utf8 + "\u{1B}[K".utf8 + "b".utf8]) == "b")
    let coloured = "\u{1B}[31m" + String(repeating: "a", count: 2_000) + "\u{1B}[mb"
    #expect(Self.render(coloured).hasSuffix("a}…"))
    let marks = "a" + String(repeating: "\u{301}", count: 10_000)
    #expect(Self.render(marks).unicodeScalars.count == 2_001)
  }

  @Test func `random bytes never trap`() {
    var random = SeededGenerator(seed: 4)
    let pieces =
      [
        "\u{1B}", "[", "]", "m", "38", ";", ":", "2", "5", "\r", "\u{8}", "K", "G", "a", "\u{301}",
        "\\",
        "\u{7}", "0", "1", "9999999999999999999999", "P", "?", " ", "é",
      ].map { Array($0.utf8) } + [[0xFF], [0xC3]]
    var terminal = TerminalText()
    for _ in 0..<4_000 {
      let line = (0..<24).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
      let spans = terminal.line(line)
      #expect(spans.allSatisfy { !$0.text.isEmpty })
      #expect(!spans.plainText.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F })
    }
  }

  @Test func `spans are written as JSON`() {
    let line = [
      Span(text: "<a>", style: Style(effects: 1, foreground: "1"), link: 12),
      Span(text: "b"),
    ]
    let json = JSONWriter.encode { line.write(to: &$0) }
    #expect(
      String(decoding: json, as: UTF8.self) == #"[{"t":"<a>","c":"b f1","l":12},{"t":"b"}]"#)
  }

  @Test(arguments: [
    (0..<2, "[ab]c|dé"), (1..<4, "a[bc]|[d]é"), (0..<6, "[abc]|[dé]"), (5..<6, "abc|dé"),
    (4..<6, "abc|d[é]"), (6..<9, "abc|dé"), (2..<2, "abc|dé"),
  ])
  func `a link splits spans at its ends`(range: Range<Int>, rendered: String) {
    let bold = Style(effects: 1)
    let line = [Span(text: "abc"), Span(text: "dé", style: bold)].linked([(range, 1)])
    let plain = line.filter { $0.style == Style() }, styled = line.filter { $0.style == bold }
    let text = [plain, styled].map { spans in
      spans.map { $0.link == nil ? $0.text : "[\($0.text)]" }.joined()
    }.joined(separator: "|")
    #expect(text == rendered)
  }

  @Test func `a line may have several links`() {
    let line = [Span(text: "abcdef")].linked([(0..<1, 1), (1..<2, 2), (4..<6, 3)])
    #expect(line.map(\.text) == ["a", "b", "cd", "ef"])
    #expect(line.map(\.link) == [1, 2, nil, 3])
  }
}
