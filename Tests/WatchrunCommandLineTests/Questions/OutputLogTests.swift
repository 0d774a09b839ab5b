import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct OutputLogTests {
  private let run = TaskReport.Run(
    task: "a", job: .command, number: 1, trigger: RunTrigger(.change))

  private func add(_ numbers: Range<Int>, to log: inout OutputLog) {
    for number in numbers {
      log.handle(TaskOutput(run: run, line: Self.line(number), isFinished: true))
    }
  }

  /// 999 bytes.
  private static func line(_ number: Int) -> [UInt8] {
    let digits = String(number)
    return Array((digits + String(repeating: ".", count: 999 - digits.utf8.count)).utf8)
  }

  private func numbers(_ text: [UInt8]) -> [Int?] {
    text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map {
      Int(String(decoding: $0.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }
  }

  @Test(arguments: Effort.rows([300, 3_000, 0, 10], quick: 2))
  func `the first and the last lines of a long run are kept, whole`(before: Int) throws {
    var log = OutputLog()
    add(0..<before, to: &log)
    for (count, isWhole) in [(500, true), (10_000, false)] {
      log.began(run)
      add(0..<count, to: &log)
      let kept = numbers(log.latest(of: "a"))
      #expect(kept.first == 0 && kept.last == count - 1)
      if isWhole {
        #expect(kept == Array(0..<count))
        continue
      }
      // A blank line stands for what is left out.
      let gap = try #require(kept.firstIndex(of: nil))
      #expect(kept[..<gap].elementsEqual((0..<gap).map(Optional.some)))
      #expect(
        kept[(gap + 1)...].elementsEqual((count - kept.count + gap + 1..<count).map(Optional.some)))
      #expect((250...262).contains(gap) && (1_300...1_580).contains(kept.count))
      let parts = log.parts(of: "a")
      #expect(
        parts.gap.lines == count - kept.count + 1 && parts.gap.bytes == parts.gap.lines * 1000)
      #expect(parts.gap.text.hasSuffix(" lines of output (8 MB) are left out here"))
      #expect(parts.first.last == UInt8(ascii: "\n") && parts.last.last == UInt8(ascii: "\n"))
    }
  }

  @Test func `a run that begins with a long line is kept from the next one on`() {
    var log = OutputLog()
    log.began(run)
    for _ in 0..<40 {
      let piece = [UInt8](repeating: 0x2E, count: 65_536)
      log.handle(TaskOutput(run: run, line: piece, isSplit: true, isFinished: true))
    }
    add(0..<2_000, to: &log)
    let parts = log.parts(of: "a")
    #expect(parts.first.isEmpty && parts.gap.bytes > 2_000_000)
    #expect(numbers(Array(parts.last)).last == 1_999)
  }

  @Test func `what is left out is said in words`() {
    #expect(
      OutputLog.Gap(lines: 0, bytes: 70_000).text
        == "a part of a line of output (70 KB) is left out here")
    #expect(
      OutputLog.Gap(lines: 1, bytes: 70_000).text == "1 line of output (70 KB) is left out here")
  }

  @Test func `what the former process writes is no output of the next run`() {
    var log = OutputLog()
    add(0..<1, to: &log)
    log.began(TaskReport.Run(task: "a", job: .command, number: 2, trigger: RunTrigger(.change)))
    add(1..<2, to: &log)
    #expect(log.latest(of: "a").isEmpty)
  }
}
