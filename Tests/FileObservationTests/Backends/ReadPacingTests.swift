import Support
import Testing

@testable import FileObservation

struct ReadPacingTests {
  private var now = Instant(offset: .seconds(100))
  private var pacing = ReadPacing()

  /// Reads so often, each time so long after the last or after its pause. The pauses.
  private mutating func read(_ count: Int, every gap: Duration) -> [Duration?] {
    (0..<count).map { _ in
      now = now.advanced(by: gap)
      let pause = pacing.pauseAfterRead(at: now)
      now = now.advanced(by: pause ?? .zero)
      return pause
    }
  }

  @Test mutating func `a few events are read as they come`() {
    #expect(read(8, every: .milliseconds(1)).allSatisfy { $0 == nil })
  }

  @Test mutating func `changes with time between them are read as they come, however many`() {
    #expect(read(100, every: .milliseconds(3)).allSatisfy { $0 == nil })
  }

  @Test mutating func `a stream is left to collect, the longer it lasts the longer`() {
    let pauses = read(30, every: .milliseconds(1)).compactMap { $0 }
    #expect(pauses.first == .milliseconds(5))
    #expect(pauses == pauses.sorted())
    #expect(pauses.last == .milliseconds(20))
  }

  @Test mutating func `what comes after a stream is read at once`() {
    _ = read(30, every: .milliseconds(1))
    #expect(read(1, every: .milliseconds(100)) == [nil])
    #expect(read(1, every: .milliseconds(1)) == [nil])
  }
}
