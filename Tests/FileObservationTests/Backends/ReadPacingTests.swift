import Support
import Testing

@testable import FileObservation

struct ReadPacingTests {
  private var now = Instant(offset: .seconds(100))
  private var pacing = ReadPacing()

  /// The pauses of a number of reads, each of which follows the last one, or its pause, after a
  /// gap.
  private mutating func read(_ count: Int, every gap: Duration) -> [Duration?] {
    (0..<count).map { _ in
      now = now.advanced(by: gap)
      let pause = pacing.pauseAfterRead(at: now)
      now = now.advanced(by: pause ?? .zero)
      return pause
    }
  }

  @Test mutating func `a few events are read at once`() {
    #expect(read(8, every: .milliseconds(1)).allSatisfy { $0 == nil })
  }

  @Test mutating func `events with gaps between them are read at once, in any number`() {
    #expect(read(100, every: .milliseconds(3)).allSatisfy { $0 == nil })
  }

  @Test mutating func `the pauses of a stream grow while it lasts`() {
    let pauses = read(30, every: .milliseconds(1)).compactMap { $0 }
    #expect(pauses.first == .milliseconds(5))
    #expect(pauses == pauses.sorted())
    #expect(pauses.last == .milliseconds(20))
  }

  @Test mutating func `events after a stream are read at once`() {
    _ = read(30, every: .milliseconds(1))
    #expect(read(1, every: .milliseconds(100)) == [nil])
    #expect(read(1, every: .milliseconds(1)) == [nil])
  }
}
