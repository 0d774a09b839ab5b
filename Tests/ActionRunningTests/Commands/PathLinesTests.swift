import FileObservation
import Testing

@testable import ActionRunning

struct PathLinesTests {
  @Test(
    arguments: [
      ("/a b", "/a b"), (#"/a"b\c"#, #"/a"b\c"#), ("/caf\u{E9}", "/caf\u{E9}"),
      ("/a\nb", #""/a\nb""#), ("/a\tb\rc", #""/a\tb\rc""#), ("/\u{1B}[2J", #""/\033[2J""#),
      ("/\u{7F}\u{1}", #""/\177\001""#), ("/\n\"\\", #""/\n\"\\""#),
    ] as [(Path, String)])
  func `a path with a control character is quoted`(path: Path, line: String) {
    #expect(path.quotedIfNeeded == Array(line.utf8))
  }

  @Test func `a path that is not UTF-8 is printed byte for byte`() {
    #expect(Path(bytes: [0x2F, 0xFF]).quotedIfNeeded == [0x2F, 0xFF])
  }

  @Test func `paths are one per line, or each followed by a NUL`() {
    #expect(Path.lines(["/a", "/b\nc"], separatedByNUL: false) == Array("/a\n\"/b\\nc\"\n".utf8))
    #expect(Path.lines(["/a", "/b\nc"], separatedByNUL: true) == Array("/a\0/b\nc\0".utf8))
    #expect(Path.lines([], separatedByNUL: true).isEmpty)
  }
}
