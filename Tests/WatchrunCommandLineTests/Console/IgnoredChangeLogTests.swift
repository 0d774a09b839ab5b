import SystemCalls
import Support
import Testing

@testable import WatchrunCommandLine

/// Which changes that did not count are remembered and reported.
@Suite struct IgnoredChangeLogTests {
  private var log = IgnoredChangeLog()

  private mutating func note(_ path: Path, _ reason: String, at seconds: Double) -> Bool {
    log.note(.init(path: path, reason: reason), at: Instant(offset: .seconds(seconds)))
  }

  @Test mutating func `each reason is reported at most once a second`() {
    let reports = [
      note("/a", "x", at: 0), note("/b", "x", at: 0.9), note("/b", "y", at: 0.9),
      note("/c", "x", at: 1), note("/c", "x", at: 1.5),
    ]
    #expect(reports == [true, false, true, true, false])
  }

  @Test mutating func `the last ten are remembered, each once`() {
    for number in 1...12 { _ = note(Path("/\(number)"), "x", at: 0) }
    _ = note("/5", "x", at: 0)
    let paths = log.entries.map(\.path)
    #expect(paths == ["/3", "/4", "/6", "/7", "/8", "/9", "/10", "/11", "/12", "/5"])
  }

  @Test mutating func `many reasons do not fill the memory`() {
    for number in 0..<500 { #expect(note("/a", "\(number)", at: 0)) }
    #expect(log.entries.count == 10)
  }
}
