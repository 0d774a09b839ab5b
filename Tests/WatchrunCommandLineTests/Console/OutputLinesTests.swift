import Testing

@testable import WatchrunCommandLine

struct OutputLinesTests {
  /// Adds lines such as "a:text", of which those that end in "…" are unfinished and those that end in "+" are
  /// split, and interrupts before "|". Each character "r" stands for a carriage return.
  private func shown(_ inputs: String..., atTerminal: Bool = true) -> String {
    var lines = OutputLines(showsUnfinished: atTerminal)
    var text: [UInt8] = []
    for input in inputs {
      if input == "|" {
        text += lines.interrupt() + Array("MESSAGE\n".utf8)
        continue
      }
      let parts = input.split(separator: ":", omittingEmptySubsequences: false)
      let (isFinished, isSplit) = (parts[1].last != "…", parts[1].last == "+")
      let line = Array((isFinished && !isSplit ? parts[1] : parts[1].dropLast()).utf8)
      text += lines.add(
        line.map { $0 == UInt8(ascii: "r") ? UInt8(ascii: "\r") : $0 }, isFinished: isFinished,
        isSplit: isSplit, of: String(parts[0]), prefix: Array("\(parts[0])> ".utf8),
        end: [UInt8(ascii: "\n")])
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test func `whole lines follow one another`() {
    #expect(shown("a:1", "b:2", "a:") == "a> 1\nb> 2\na> \n")
  }

  @Test func `an unfinished line grows`() {
    #expect(shown("a:.…", "a:..…", "a:...", "a:x") == "a> ...\na> x\n")
  }

  @Test func `an unfinished line ends as it is`() {
    #expect(shown("a:..…", "a:..", "a:x") == "a> ..\na> x\n")
  }

  @Test func `a line of another task interrupts it`() {
    #expect(shown("a:.…", "b:x", "a:..…", "a:...") == "a> .\nb> x\na> ..\n")
  }

  @Test func `an interrupted line that does not go on ends with the interruption`() {
    #expect(shown("a:.…", "b:x", "a:.", "a:y") == "a> .\nb> x\na> y\n")
  }

  @Test func `a message interrupts it`() {
    #expect(shown("a:.…", "|", "|", "a:..") == "a> .\nMESSAGE\nMESSAGE\na> .\n")
  }

  @Test func `an unfinished line is replaced`() {
    #expect(
      shown("a:1%…", "a:2%…", "a:2%.", "a:x") == "a> 1%\r\u{1B}[Ka> 2%.\na> x\n")
    #expect(shown("a:1%…", "b:x", "a:2%", "a:y") == "a> 1%\nb> x\na> 2%\na> y\n")
    #expect(shown("a:1%…", "a:", "a:y") == "a> 1%\r\u{1B}[Ka> \na> y\n")
  }

  @Test func `a carriage return at the end may belong to a line feed`() {
    #expect(shown("a:1r…", "a:1r", "a:y") == "a> 1\r\na> y\n")
  }

  @Test(arguments: [true, false])
  func `a line that is split has one prefix, unless another task interrupts it`(
    _ atTerminal: Bool
  ) {
    #expect(shown("a:12+", "a:34+", "a:5", "a:6", atTerminal: atTerminal) == "a> 12345\na> 6\n")
    #expect(
      shown("a:12+", "b:x", "a:34+", "|", "a:5", atTerminal: atTerminal)
        == "a> 12\nb> x\na> 34\nMESSAGE\na> 5\n")
    #expect(shown("a:12+", "a:", atTerminal: atTerminal) == "a> 12\n")
  }

  @Test func `away from a terminal, only whole lines are written, unchanged`() {
    #expect(shown("a:.…", "b:x", "a:.r.", atTerminal: false) == "b> x\na> .\r.\n")
  }
}
