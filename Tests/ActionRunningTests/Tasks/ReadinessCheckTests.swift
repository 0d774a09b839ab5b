import FileObservation
import Synchronization
import TestSupport
import Testing

@testable import ActionRunning

/// Answers as a test says, at once.
private final class FakeProbe: ReadinessProbe {
  private let state = Mutex((count: 0, readyAt: Int.max))

  var count: Int { state.withLock { $0.count } }

  init(readyAt: Int = .max) {
    state.withLock { $0.readyAt = readyAt }
  }

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    answer(
      state.withLock { state in
        state.count += 1
        return state.count >= state.readyAt
      })
  }
}

struct ReadinessCheckTests {
  private let scheduler = ManualScheduler()
  private let results = Log<ReadinessCheck.Result>()

  private func check(_ condition: TaskDefinition.Readiness.Condition, _ probe: FakeProbe)
    -> ReadinessCheck
  {
    ReadinessCheck(
      TaskDefinition.Readiness(condition, timeout: .seconds(5)), scheduler: scheduler, probe: probe
    ) { [results] in results.note($0) }
  }

  @Test func `a service is polled at once, and then at growing intervals, until it is ready`() {
    let probe = FakeProbe(readyAt: 4)
    let check = check(.port(1), probe)
    check.begin()
    #expect(probe.count == 1)
    scheduler.advance(by: .milliseconds(10))
    #expect(probe.count == 2)
    scheduler.advance(by: .milliseconds(15))
    #expect(probe.count == 3)
    #expect(results.entries.isEmpty)
    scheduler.advance(by: .milliseconds(23))
    #expect(results.entries == [.ready])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a service that is late is checked once a second until it is ready`() {
    let probe = FakeProbe(readyAt: 40)
    let check = check(.url("http://a"), probe)
    check.begin()
    scheduler.advance(by: .milliseconds(4999))
    #expect(results.entries.isEmpty)
    scheduler.advance(by: .milliseconds(1))
    #expect(results.entries == [.late])
    // At most four times a second.
    let count = probe.count
    #expect(count < 35)
    scheduler.advance(by: .seconds(3))
    #expect((2...4).contains(probe.count - count))
    scheduler.advance(by: .seconds(60))
    #expect(results.entries == [.late, .ready])
    #expect(probe.count == 40)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a line that contains the string is readiness, and nothing is polled`() {
    let probe = FakeProbe()
    let check = check(.line("ready ✓"), probe)
    check.begin()
    check.sees(Array("rea".utf8))
    check.sees(Array("not ready ✗".utf8))
    #expect(results.entries.isEmpty)
    check.sees(Array("\u{1B}[1mready ✓ on 8080".utf8))
    check.sees(Array("ready ✓".utf8))
    #expect(results.entries == [.ready])
    #expect(probe.count == 0)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a line after the time limit is readiness as well`() {
    let check = check(.line("up"), FakeProbe())
    check.begin()
    scheduler.advance(by: .seconds(6))
    #expect(results.entries == [.late])
    check.sees(Array("up".utf8))
    #expect(results.entries == [.late, .ready])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a cancelled check reports nothing`() {
    let probe = FakeProbe(readyAt: 2)
    let check = check(.port(1), probe)
    check.begin()
    check.cancel()
    scheduler.advance(by: .seconds(10))
    #expect(probe.count == 1)
    #expect(results.entries.isEmpty)
    #expect(scheduler.pendingCount == 0)
  }
}
