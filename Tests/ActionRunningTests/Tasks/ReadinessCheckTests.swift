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
  private let answers = Log<Bool>()

  private func check(_ condition: TaskDefinition.Readiness.Condition, _ probe: FakeProbe)
    -> ReadinessCheck
  {
    ReadinessCheck(
      TaskDefinition.Readiness(condition, timeout: .seconds(5)), scheduler: scheduler, probe: probe
    ) { [answers] in answers.note($0) }
  }

  @Test func `it is asked at once, and then at growing intervals, until it is ready`() {
    let probe = FakeProbe(readyAt: 4)
    let check = check(.port(1), probe)
    check.begin()
    #expect(probe.count == 1)
    scheduler.advance(by: .milliseconds(10))
    #expect(probe.count == 2)
    scheduler.advance(by: .milliseconds(15))
    #expect(probe.count == 3)
    #expect(answers.entries.isEmpty)
    scheduler.advance(by: .milliseconds(23))
    #expect(answers.entries == [true])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `it is late when its time is over, and asked no more`() {
    let probe = FakeProbe()
    let check = check(.url("http://a"), probe)
    check.begin()
    scheduler.advance(by: .milliseconds(4999))
    #expect(answers.entries.isEmpty)
    scheduler.advance(by: .milliseconds(1))
    #expect(answers.entries == [false])
    #expect(scheduler.pendingCount == 0)
    // Four times a second at the most.
    #expect(probe.count < 35)
  }

  @Test func `a line that holds the text is the condition, and nobody is asked`() {
    let probe = FakeProbe()
    let check = check(.line("ready ✓"), probe)
    check.begin()
    check.sees(Array("rea".utf8))
    check.sees(Array("not ready ✗".utf8))
    #expect(answers.entries.isEmpty)
    check.sees(Array("\u{1B}[1mready ✓ on 8080".utf8))
    check.sees(Array("ready ✓".utf8))
    #expect(answers.entries == [true])
    #expect(probe.count == 0)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `when it is cancelled, nothing more happens`() {
    let probe = FakeProbe(readyAt: 2)
    let check = check(.port(1), probe)
    check.begin()
    check.cancel()
    scheduler.advance(by: .seconds(10))
    #expect(probe.count == 1)
    #expect(answers.entries.isEmpty)
    #expect(scheduler.pendingCount == 0)
  }
}
