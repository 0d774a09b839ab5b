import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

/// What is written to a terminal of ten columns, with the text `row` in its last row.
final class StatusRowTests {
  private let ours: Descriptor
  private let theirs: Descriptor
  private let row = StatusRow()

  init() throws {
    let terminal = try openPseudoTerminal()
    ours = Descriptor(owning: terminal.ours)
    theirs = Descriptor(owning: terminal.theirs)
    Terminal(terminal.theirs).setSize(.init(columns: 10, rows: 24))
    row.text = Array("row".utf8)
  }

  /// Writes these texts, and returns what the last one has led to.
  private func written(_ texts: [String]) throws -> String {
    var last = ""
    for text in texts {
      try row.write(Array(text.utf8), to: theirs.number)
      var read: [UInt8] = []
      while case let bytes = Terminal(ours.number).typed(), !bytes.isEmpty { read += bytes }
      last = String(decoding: read, as: UTF8.self)
    }
    return last
  }

  private enum Place { case here, below, nowhere }

  private static let rows: [([String], Place)] = [
    (["a\n"], .here), (["a"], .below), ([""], .here), (["a\n", "\u{7}"], .here),
    (["a\r"], .below), (["\u{1B}[H\u{1B}[2J"], .here), (["\u{1B}]2;a\u{1B}\\"], .here),
    (["a", "\u{1B}[H\u{1B}[2J"], .below), (["a", "\u{1B}]2;b\u{7}"], .below),
    // A terminal waits at its edge for the next character.
    (["1234567890"], .nowhere), (["123456789"], .below), (["12345678901"], .below),
    (["12345", "67890"], .nowhere), (["1234567890", ""], .nowhere), (["1234567890", "1"], .below),
    (["1234567890\n"], .here), (["1234567890\r"], .below), (["1234567890\r123"], .below),
    (["\u{1B}[31m1234567890\u{1B}[0m"], .nowhere), (["12345678\u{65E5}"], .nowhere),
    (["123456\u{65E5}"], .below), (["12345678901234567890"], .nowhere),
    (["12345\u{8}67890"], .below), (["a\t123"], .below), (["a\t12"], .nowhere),
    (["✅✅✅✅✅"], .nowhere), (["123456789\u{65E5}"], .below),
    (["123456789\u{65E5}12345678"], .nowhere),
  ]

  @Test(arguments: rows.indices) func `it is drawn where nothing is lost`(_ index: Int) throws {
    let (texts, place) = Self.rows[index]
    let text = try written(texts)
    let (here, below) = ("\u{1B}7row\u{1B}8", "\u{1B}D\u{1B}[A\u{1B}7\u{1B}D\rrow\u{1B}8")
    switch place {
    case .here: #expect(text.hasSuffix(here) && !text.contains(below))
    case .below: #expect(text.hasSuffix(below))
    case .nowhere: #expect(!text.contains("row"))
    }
  }
}
