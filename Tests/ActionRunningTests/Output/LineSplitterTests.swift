import Testing

@testable import ActionRunning

struct LineSplitterTests {
  @Test func `bytes are cut at line ends, however they arrive`() {
    var splitter = LineSplitter()
    #expect(splitter.add("ab".utf8).isEmpty)
    #expect(
      splitter.add("c\nd\n\nx".utf8).map(\.bytes) == [Array("abc".utf8), Array("d".utf8), []])
    #expect(splitter.finish()?.bytes == Array("x".utf8))
    #expect(splitter.finish() == nil)
  }

  @Test func `bytes that are no text, and carriage returns, stay as they are`() {
    var splitter = LineSplitter()
    #expect(splitter.add([0xFF, 0x0D, 0x0A, 0x00, 0x0A]).map(\.bytes) == [[0xFF, 0x0D], [0x00]])
  }

  /// The lengths of the pieces, negative where the next piece continues the line.
  private func lengths(_ pieces: [LineSplitter.Piece]) -> [Int] {
    pieces.map { $0.isSplit ? -$0.bytes.count : $0.bytes.count }
  }

  private func text(_ length: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: length) }

  @Test func `a long line is delivered in pieces, of which only the last ends it`() {
    let longest = LineSplitter.longest
    var splitter = LineSplitter()
    #expect(lengths(splitter.add(text(longest * 2 + 3))) == [-longest, -longest])
    #expect(lengths(splitter.add([0x0A])) == [3])
    #expect(lengths(splitter.add(text(longest))) == [])
    #expect(lengths(splitter.add([0x0A, 0x0A])) == [longest, 0])
  }

  @Test func `a long line without a line feed ends with the output`() {
    let longest = LineSplitter.longest
    var splitter = LineSplitter()
    #expect(lengths(splitter.add(text(longest + 1))) == [-longest])
    #expect(splitter.finish() == LineSplitter.Piece(bytes: text(1)))
    #expect(splitter.finish() == nil)
  }
}
