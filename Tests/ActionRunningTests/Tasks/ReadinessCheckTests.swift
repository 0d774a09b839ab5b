import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Answers at once, as a test says.
private final class FakeProbe: ReadinessProbe {
  typealias Condition = TaskDefinition.Readiness.Condition

  let asked = Log<Condition>()
  /// The number of the first question with a positive answer, of each kind.
  private let (portIsReadyAt, readyAt): (Int, Int)

  var count: Int { asked.entries.count }

  init(portIsReadyAt: Int = 1, readyAt: Int = .max) {
    (self.portIsReadyAt, self.readyAt) = (portIsReadyAt, readyAt)
  }

  func ask(_ condition: Condition, _ answer: @escaping @Sendable (Bool) -> Void) {
    asked.note(condition)
    let isPort = if case .port = condition { true } else { false }
    let count = asked.entries.count { $0 == condition }
    answer(count >= (isPort && portIsReadyAt > 1 ? portIsReadyAt : readyAt))
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

  @Test func `a port is polled at once, and then at a short interval, until it is ready`() {
    let probe = FakeProbe(readyAt: 101)
    let check = check(.port(1), probe)
    check.begin()
    #expect(probe.count == 1)
    scheduler.advance(by: .milliseconds(1485))
    #expect(probe.count == 100)
    #expect(results.entries.isEmpty)
    scheduler.advance(by: .milliseconds(15))
    #expect(results.entries == [.ready])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a URL is requested at growing intervals`() {
    let probe = FakeProbe(readyAt: 3)
    let check = check(.url("http://a"), probe)
    check.begin()
    #expect(probe.count == 1)
    scheduler.advance(by: .milliseconds(15))
    #expect(probe.count == 2)
    scheduler.advance(by: .milliseconds(22))
    #expect(probe.count == 2)
    scheduler.advance(by: .milliseconds(1))
    #expect(results.entries == [.ready])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a URL of this machine is requested when its port accepts connections`() {
    let url = TaskDefinition.Readiness.Condition.url("http://localhost:8080/x")
    let probe = FakeProbe(portIsReadyAt: 21, readyAt: 2)
    let check = check(url, probe)
    check.begin()
    scheduler.advance(by: .milliseconds(299))
    #expect(Set(probe.asked.entries) == [.port(8080)])
    scheduler.advance(by: .milliseconds(1))
    #expect(probe.asked.entries.suffix(2) == [.port(8080), url])
    #expect(results.entries.isEmpty)
    scheduler.advance(by: .milliseconds(15))
    #expect(probe.count == 23)
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

  @Test func `an interval that is set replaces the growing one`() {
    let probe = FakeProbe(readyAt: 4)
    var readiness = TaskDefinition.Readiness(.url("http://a"), timeout: .seconds(5))
    readiness.interval = .seconds(1)
    let check = ReadinessCheck(readiness, scheduler: scheduler, probe: probe) { [results] in
      results.note($0)
    }
    check.begin()
    scheduler.advance(by: .milliseconds(2999))
    #expect(probe.count == 3)
    scheduler.advance(by: .milliseconds(1))
    #expect(results.entries == [.ready])
  }

  private func check(byCommandOf launcher: FakeLauncher) -> ReadinessCheck {
    let request = SpawnRequest(arguments: [Array("pg_isready".utf8)], environment: [])
    let probe = CommandProbe(scheduler: scheduler) {
      (ended) throws(SystemError) -> any LaunchedGroup in
      try launcher.launch(request, ended: ended)
    }
    return ReadinessCheck(
      .init(.command(Command("pg_isready"))), scheduler: scheduler, probe: probe
    ) { [results] in results.note($0) }
  }

  @Test func `a command is run at growing intervals, and killed if it takes too long`() {
    let launcher = FakeLauncher()
    let check = check(byCommandOf: launcher)
    check.begin()
    launcher.groups[0].endLeader(.exited(2))
    scheduler.advance(by: .milliseconds(50))
    #expect(launcher.groups.count == 2)
    scheduler.advance(by: .milliseconds(9_999))
    #expect(!launcher.calls.contains(.send(.kill, group: 2)))
    scheduler.advance(by: .milliseconds(1))
    #expect(launcher.calls.last == .send(.kill, group: 2))
    launcher.groups[1].endLeader(.signaled(.kill))
    scheduler.advance(by: .seconds(1))
    #expect(launcher.groups.count == 3)
    launcher.groups[2].endLeader(.exited(0))
    #expect(results.entries == [.ready])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `the command of a cancelled check is killed`() {
    let launcher = FakeLauncher()
    let check = check(byCommandOf: launcher)
    check.begin()
    check.cancel()
    #expect(launcher.calls.last == .send(.kill, group: 1))
    launcher.groups[0].endLeader(.signaled(.kill))
    #expect(results.entries.isEmpty)
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
