import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct SupervisorTests {
  private let scheduler = ManualScheduler()
  private let launcher = FakeLauncher()
  private let events = Log<Supervisor.Event>()
  private let supervisor: Supervisor

  init() {
    supervisor = Supervisor(plan: StopPlan(), launcher: launcher, scheduler: scheduler)
  }

  @discardableResult
  private func launch() throws -> FakeGroup {
    let request = SpawnRequest(arguments: [Array("run".utf8)], environment: [])
    try supervisor.launch(request) { [events] in events.note($0) }
    return try #require(launcher.groups.last)
  }

  private var sent: [Signal] {
    launcher.calls.compactMap { if case .send(let signal, _) = $0 { signal } else { nil } }
  }

  @Test func `reports how a process ended, and whether descendants remain`() throws {
    try launch().endLeader(.exited(3))
    try launch().endLeader(.signaled(.kill), leavingOthers: true)
    #expect(
      events.entries == [
        .ended(.exited(3), leftovers: false), .ended(.signaled(.kill), leftovers: true),
      ])
  }

  @Test func `a stop is over when the process has ended and no member is left`() throws {
    let group = try launch()
    supervisor.stop()
    #expect(sent == [.terminate, .continue])
    scheduler.advance(by: .seconds(3))
    group.endLeader(.signaled(.terminate))
    #expect(
      events.entries == [
        .stopping(.terminate), .ended(.signaled(.terminate), leftovers: false), .groupIsGone,
      ])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a stop waits for leftover processes`() throws {
    let group = try launch()
    supervisor.stop()
    group.endLeader(.exited(0), leavingOthers: true)
    scheduler.advance(by: .milliseconds(100))
    #expect(events.entries.last == .ended(.exited(0), leftovers: true))
    group.endOthers()
    scheduler.advance(by: .milliseconds(20))
    #expect(events.entries.last == .groupIsGone)
  }

  @Test func `a process that exceeds its grace period is killed`() throws {
    let group = try launch()
    supervisor.stop()
    scheduler.advance(by: .milliseconds(9_999))
    #expect(sent == [.terminate, .continue])
    scheduler.advance(by: .milliseconds(1))
    #expect(sent == [.terminate, .continue, .kill])
    group.endLeader(.signaled(.kill))
    #expect(events.entries.suffix(2) == [.ended(.signaled(.kill), leftovers: false), .groupIsGone])
    #expect(events.entries.contains(.killing(after: .seconds(10))))
  }

  @Test func `leftover processes that exceed the grace period are killed as well`() throws {
    let group = try launch()
    supervisor.stop()
    group.endLeader(.exited(0), leavingOthers: true)
    scheduler.advance(by: .seconds(10))
    #expect(sent.last == .kill)
    group.endOthers()
    scheduler.advance(by: .milliseconds(20))
    #expect(events.entries.last == .groupIsGone)
  }

  private let held = Survivor(process: 42, name: "fake", owner: nil)
  private let foreign = Survivor(process: 42, name: "fake", owner: "root")

  @Test func `a process that cannot be killed is reported, and awaited without a timer`() throws {
    let group = try launch()
    supervisor.stop()
    scheduler.advance(by: .seconds(12))
    #expect(
      events.entries == [.stopping(.terminate), .killing(after: .seconds(10)), .notStopped(held)])
    #expect(scheduler.pendingCount == 0)
    group.endLeader(.signaled(.kill))
    #expect(events.entries.suffix(2) == [.ended(.signaled(.kill), leftovers: false), .groupIsGone])
  }

  @Test func `leftover processes that cannot be killed are awaited, more and more seldom`() throws {
    let group = try launch()
    group.endLeader(.exited(0), leavingOthers: true)
    supervisor.stop()
    scheduler.advance(by: .seconds(60))
    #expect(
      events.entries == [
        .ended(.exited(0), leftovers: true), .stopping(.terminate), .killing(after: .seconds(10)),
        .notStopped(held),
      ])
    #expect(scheduler.pendingCount == 1)
    group.endOthers()
    scheduler.advance(by: .seconds(2))
    #expect(events.entries.last == .groupIsGone)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a process of another user is reported at once, and never sent SIGKILL`() throws {
    let group = try launch()
    group.refusesSignals = true
    supervisor.stop()
    #expect(events.entries == [.stopping(.terminate), .notStopped(foreign)])
    scheduler.advance(by: .seconds(60))
    #expect(events.entries.count == 2)
    #expect(!sent.contains(.kill))
    group.endLeader(.exited(0))
    #expect(events.entries.suffix(2) == [.ended(.exited(0), leftovers: false), .groupIsGone])
  }

  @Test func `another stop sends the signals again`() throws {
    let group = try launch()
    group.refusesSignals = true
    supervisor.stop()
    supervisor.stop()
    #expect(events.entries.count { $0 == .notStopped(foreign) } == 2)
    group.refusesSignals = false
    supervisor.stop()
    group.endLeader(.signaled(.terminate))
    #expect(events.entries.last == .groupIsGone)
  }

  @Test func `a group that is gone while it is being stopped is not killed`() throws {
    let group = try launch()
    supervisor.stop()
    group.endLeader(.exited(0), leavingOthers: true)
    group.endOthers()
    supervisor.kill()
    #expect(sent == [.terminate, .continue], "its number may be another's by now")
    #expect(events.entries.last == .groupIsGone)
  }

  @Test func `a stop is begun once`() throws {
    try launch()
    supervisor.stop()
    supervisor.stop()
    #expect(sent == [.terminate, .continue])
  }

  @Test func `a kill waits for nothing`() throws {
    try launch()
    supervisor.kill()
    #expect(sent.isEmpty, "only what is being stopped is killed")
    supervisor.stop()
    supervisor.kill()
    supervisor.kill()
    #expect(sent == [.terminate, .continue, .kill])
    #expect(events.entries == [.stopping(.terminate), .killing(after: nil)])
  }

  @Test func `a group that has gone by itself is sent nothing`() throws {
    let group = try launch()
    group.endLeader(.exited(0), leavingOthers: true)
    group.endOthers()
    supervisor.stop()
    #expect(sent.isEmpty)
    #expect(events.entries.last == .groupIsGone)
  }

  @Test func `signals go to the group`() throws {
    supervisor.send(.interrupt)
    #expect(sent.isEmpty)
    try launch()
    supervisor.send(.interrupt)
    #expect(launcher.calls == [.launch(["run"]), .send(.interrupt, group: 1)])
  }

  @Test func `a signal to a group that has ended is not sent`() throws {
    try launch().endLeader(.exited(0))
    supervisor.send(.interrupt)
    #expect(sent.isEmpty)
  }

  @Test func `a launch that fails says so and leaves nothing`() throws {
    let error = SystemError(call: "posix_spawn", code: ENOENT)
    launcher.failLaunches(with: error)
    #expect(throws: error) { try launch() }
    supervisor.stop()
    supervisor.send(.interrupt)
    #expect(events.entries.isEmpty)
    #expect(sent.isEmpty)
    launcher.failLaunches(with: nil)
    try launch()
    #expect(launcher.groups.count == 1)
  }

  @Test func `a timer of an earlier run does nothing to the next`() throws {
    let late = ManualScheduler(honoursCancelling: false)
    let supervisor = Supervisor(plan: StopPlan(), launcher: launcher, scheduler: late)
    let request = SpawnRequest(arguments: [Array("run".utf8)], environment: [])
    try supervisor.launch(request) { [events] in events.note($0) }
    supervisor.stop()
    launcher.groups.last?.endLeader(.exited(0))
    try supervisor.launch(request) { [events] in events.note($0) }
    late.advance(by: .seconds(60))
    #expect(sent == [.terminate, .continue])
    #expect(events.entries.last == .groupIsGone)
  }

  private let busy = SystemError(call: "posix_spawn", code: ETXTBSY)

  @Test func `a program that is being written is started when it can be executed`() throws {
    launcher.failLaunches(with: busy)
    let request = SpawnRequest(arguments: [Array("run".utf8)], environment: [])
    try supervisor.launch(request) { [events] in events.note($0) }
    scheduler.advance(by: .milliseconds(100))
    #expect(events.entries.isEmpty && launcher.groups.isEmpty)
    launcher.failLaunches(with: nil)
    scheduler.advance(by: .milliseconds(200))
    try #require(launcher.groups.last).endLeader(.exited(0))
    #expect(events.entries == [.ended(.exited(0), leftovers: false)])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a program that is written for more than a second fails to start`() throws {
    launcher.failLaunches(with: busy)
    let request = SpawnRequest(arguments: [Array("run".utf8)], environment: [])
    try supervisor.launch(request) { [events] in events.note($0) }
    scheduler.advance(by: .milliseconds(900))
    #expect(events.entries.isEmpty)
    scheduler.advance(by: .milliseconds(200))
    #expect(events.entries == [.notStarted(busy)])
    #expect(launcher.calls.count == 8)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `a stop cancels a pending launch at once`() throws {
    launcher.failLaunches(with: busy)
    let request = SpawnRequest(arguments: [Array("run".utf8)], environment: [])
    try supervisor.launch(request) { [events] in events.note($0) }
    supervisor.send(.interrupt)
    supervisor.stop()
    #expect(events.entries == [.ended(.signaled(.terminate), leftovers: false), .groupIsGone])
    launcher.failLaunches(with: nil)
    scheduler.advance(by: .seconds(2))
    #expect(launcher.groups.isEmpty && sent.isEmpty)
  }
}
