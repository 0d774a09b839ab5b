import Support
import TestSupport
import Testing

struct TerminalLineTests {
  /// The line with colours, and then without; the character `^` stands for ESC.
  private func shown(_ line: String) -> [String] {
    let bytes = line.utf8.map { $0 == UInt8(ascii: "^") ? 0x1B : $0 }
    return [true, false].map { keepsStyles in
      String(decoding: TerminalLine(bytes, keepsStyles: keepsStyles).text, as: UTF8.self)
        .replacing("\u{1B}", with: "^")
    }
  }

  @Test(
    arguments: [
      ("plain\ttext · é", "plain\ttext · é"),
      ("10%\r20%\r100%", "100%"), ("100%\r", "100%"), ("1\r\n", "1"),
      ("100%\r^[K5%", "5%"), ("long^[2K\rdone", "done"), ("long\r^[0Kdone", "done"),
      ("long^[1Gdone", "done"), ("12^[5G34", "1234"), ("ab\u{8}c", "ac"),
      ("^[2J^[H^[3A^[?25l^[?1049h1^[K", "1"), ("^c1", "1"), ("^]0;title\u{7}1", "1"),
      ("^]8;;file:///x^\\link^]8;;^\\", "link"), ("^(0x^(B", "x"), ("^[>4;1mx", "x"),
      ("\u{9B}2Jx", "x"), ("\u{85}x", "x"), ("a\u{0}\u{7}b", "ab"), ("^[12", ""),
    ])
  func `what controls the terminal is dropped, and what is overwritten`(
    _ line: String, _ text: String
  ) {
    let reset = line.contains("^c") ? "^[m" : ""
    #expect(shown(line) == [reset + text, text])
  }

  @Test(
    arguments: [
      ("^[31mred^[0m", "^[31mred^[0m", false), ("^[1;31mred", "^[1;31mred", true),
      ("^[31mred\r^[Knext", "^[31mnext", true), ("^[31m1^[m\r2", "2", false),
      ("^[31m1\r2^[0m\r3", "3", false), ("^[1mm\u{8}x", "^[1mx", true),
    ])
  func `colours and effects are kept`(_ line: String, _ text: String, _ isStyled: Bool) {
    #expect(shown(line)[0] == text)
    let bytes = line.utf8.map { $0 == UInt8(ascii: "^") ? 0x1B : $0 }
    #expect(TerminalLine(bytes, keepsStyles: true).isStyled == isStyled)
  }

  @Test(arguments: [
    [0x61, 0xC2], [0xC2, 0x61], [0xC2, 0xC2], [0xC2, 0xC3, 0xA9], [0xC2, 0xA0], [0xFF, 0x9B],
  ])
  func `bytes that are no characters are kept`(_ line: [UInt8]) {
    #expect(TerminalLine(line).text == line)
  }

  @Test func `random bytes set nothing but colours`() {
    var generator = SeededGenerator(seed: 7)
    let special =
      Array("\u{1B}[]()0;?mKHJ\r\u{8}\u{7}\u{9B}\u{C2}".utf8) + [0x9B, 0x90, 0x0E, 0xC2]
    for _ in 0..<2_000 {
      let line = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
        Bool.random(using: &generator)
          ? special.randomElement(using: &generator)! : UInt8.random(in: 0...255, using: &generator)
      }
      let text = TerminalLine(line, keepsStyles: true).text
      let rest = String(decoding: text, as: UTF8.self)
        .replacing(/\u{1B}\[[0-9:;]*m/, with: "").unicodeScalars
      #expect(
        rest.allSatisfy { $0 == "\t" || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
        "\(line)")
    }
  }
}
