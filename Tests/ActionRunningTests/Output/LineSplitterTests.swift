import Testing

@testable import ActionRunning

struct LineSplitterTests {
  @Test func `bytes are cut at line ends, however they arrive`() {
    var splitter = LineSplitter()
    #expect(splitter.add("ab".utf8).isEmpty)
    #expect(splitter.add("c\nd\n\nx".utf8) == [Array("abc".utf8), Array("d".utf8), []])
    #expect(splitter.finish() == Array("x".utf8))
    #expect(splitter.finish() == nil)
  }

  @Test func `bytes that are no text, and carriage returns, stay as they are`() {
    var splitter = LineSplitter()
    #expect(splitter.add([0xFF, 0x0D, 0x0A, 0x00, 0x0A]) == [[0xFF, 0x0D], [0x00]])
  }

  @Test func `a line without an end is cut into pieces`() {
    var splitter = LineSplitter()
    let long = [UInt8](repeating: 0x61, count: LineSplitter.longest * 2 + 3)
    #expect(splitter.add(long).map(\.count) == [LineSplitter.longest, LineSplitter.longest])
    #expect(splitter.add([0x0A]).map(\.count) == [3])
  }
}
