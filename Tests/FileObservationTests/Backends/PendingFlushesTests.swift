import TestSupport
import Testing

@testable import FileObservation

struct PendingFlushesTests {
  private let answers = Log<Int>()

  private func end(_ flushes: inout PendingFlushes, foundChanges: Bool) -> [Int] {
    let before = answers.entries.count
    flushes.pollEnded(foundChanges: foundChanges)
    for answer in flushes.takePolled() { answer() }
    return Array(answers.entries.dropFirst(before))
  }

  private func add(_ number: Int, to flushes: inout PendingFlushes) {
    flushes.add { [answers] in answers.note(number) }
  }

  @Test func `a flush waits until a poll finds nothing, for four polls at most`() {
    var flushes = PendingFlushes()
    add(1, to: &flushes)
    for expected in [[], [], [], [1]] as [[Int]] {
      flushes.pollBegins()
      #expect(end(&flushes, foundChanges: true) == expected)
    }
    add(2, to: &flushes)
    flushes.pollBegins()
    #expect(end(&flushes, foundChanges: false) == [2])
  }

  @Test func `polls before a flush, or for another one, do not count`() {
    var flushes = PendingFlushes()
    for _ in 0..<3 {
      flushes.pollBegins()
      #expect(end(&flushes, foundChanges: true).isEmpty)
    }
    add(1, to: &flushes)
    flushes.pollBegins()
    // It came during the poll.
    add(2, to: &flushes)
    for expected in [[], [], [], [1], [2]] as [[Int]] {
      #expect(end(&flushes, foundChanges: true) == expected)
      flushes.pollBegins()
    }
  }
}
