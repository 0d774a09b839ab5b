import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// How a worker stops processes, and what it does if that fails.
struct StoppedWorkerTests {
  private let fixture = WorkerFixture()
  private let worker: TaskWorker

  init() {
    worker = fixture.worker()
  }

  @discardableResult
  private func start() throws -> FakeGroup {
    fixture.onQueue { worker.start(.start) }
    return try #require(fixture.launcher.groups.last)
  }

  private func stop() { fixture.onQueue { worker.stop() } }

  private func end() { fixture.onQueue { worker.end() } }

  private func send(_ signal: Signal) { fixture.onQueue { worker.send(signal) } }

  private var story: ArraySlice<String> { fixture.story.entries.dropFirst() }
  private var sent: [Signal] { fixture.sent }
  private var pendingCount: Int { fixture.scheduler.pendingCount }

  @Test func `a stop is over when the process has ended and no member is left`() throws {
    try start()
    stop()
    #expect(sent == [.terminate, .continue])
    fixture.advance(by: .seconds(3))
    fixture.endLeader(.signaled(.terminate))
    #expect(story == ["stopping", "stopped with 143", "gone", "at rest"])
    #expect(pendingCount == 0)
  }

  @Test func `a stop command comes before the signal`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    let group = try #require(fixture.launcher.groups.first)
    fixture.onQueue { worker.stop() }
    #expect(fixture.launcher.calls.last == .launch(["down"]))
    fixture.endLeader(.exited(0))
    fixture.advance(by: .milliseconds(999))
    #expect(sent.isEmpty)
    fixture.advance(by: .milliseconds(1))
    #expect(sent == [.terminate, .continue])
    fixture.onQueue { group.endLeader(.exited(0)) }
    #expect(story == ["stopping by down", "stopping", "stopped with 0", "gone", "at rest"])
    #expect(pendingCount == 0)
  }

  @Test func `a command that has ended meanwhile is sent no signal`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    let group = try #require(fixture.launcher.groups.first)
    fixture.onQueue { worker.stop() }
    fixture.onQueue { group.endLeader(.exited(0)) }
    #expect(story == ["stopping by down", "stopped with 0"])
    fixture.endLeader(.exited(0))
    #expect(sent.isEmpty)
    #expect(story.suffix(2) == ["gone", "at rest"])
    #expect(pendingCount == 0)
  }

  @Test func `a command that ends soon after the stop command is sent no signal`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    let group = try #require(fixture.launcher.groups.first)
    fixture.onQueue { worker.stop() }
    fixture.endLeader(.exited(0))
    fixture.onQueue { group.endLeader(.exited(0)) }
    #expect(sent.isEmpty)
    #expect(story.suffix(3) == ["stopped with 0", "gone", "at rest"])
    #expect(pendingCount == 0)
  }

  @Test func `the signal follows at once where the stop command fails`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    fixture.onQueue { worker.stop() }
    fixture.endLeader(.exited(1))
    #expect(sent == [.terminate, .continue])
  }

  @Test func `a stop command that exceeds the grace period is killed, and not awaited`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    let group = try #require(fixture.launcher.groups.first)
    fixture.onQueue { worker.stop() }
    fixture.advance(by: .seconds(10))
    let signals: [FakeLauncher.Call] = [
      .send(.kill, group: 2), .send(.terminate, group: 1), .send(.continue, group: 1),
    ]
    #expect(fixture.launcher.calls.suffix(3) == signals[...], "it may belong to another user")
    fixture.onQueue { group.endLeader(.exited(0)) }
    #expect(story.last == "at rest" && pendingCount == 0)
    fixture.endLeader(.signaled(.kill))
    #expect(story.last == "at rest")
  }

  @Test func `what a stop command leaves behind is killed`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    fixture.onQueue { worker.stop() }
    fixture.endLeader(.exited(0), leavingOthers: true)
    #expect(sent == [.kill])
    #expect(fixture.launcher.calls.last == .send(.kill, group: 2))
  }

  @Test func `a second request to end kills the stop command and the command`() throws {
    let worker = fixture.worker { $0.policy.stopCommand = Command("down") }
    fixture.onQueue { worker.start(.start) }
    let group = try #require(fixture.launcher.groups.first)
    fixture.onQueue { worker.end() }
    fixture.onQueue { worker.end() }
    #expect(fixture.launcher.calls.contains(.send(.kill, group: 2)))
    #expect(fixture.launcher.calls.last == .send(.kill, group: 1))
    fixture.endLeader(.signaled(.kill))
    fixture.onQueue { group.endLeader(.signaled(.kill)) }
    #expect(story.last == "finished")
    #expect(pendingCount == 0)
  }

  @Test func `a stop waits for leftover processes`() throws {
    let group = try start()
    stop()
    fixture.endLeader(.exited(0), leavingOthers: true)
    fixture.advance(by: .milliseconds(100))
    #expect(story.last == "stopped with 0")
    group.endOthers()
    fixture.advance(by: .milliseconds(20))
    #expect(story.suffix(2) == ["gone", "at rest"])
  }

  @Test func `a process that exceeds its grace period is killed`() throws {
    try start()
    stop()
    fixture.advance(by: .milliseconds(9_999))
    #expect(sent == [.terminate, .continue])
    fixture.advance(by: .milliseconds(1))
    #expect(sent == [.terminate, .continue, .kill])
    fixture.endLeader(.signaled(.kill))
    #expect(
      story == ["stopping", "killing after 10.0 seconds", "stopped with 137", "gone", "at rest"])
  }

  @Test func `leftover processes that exceed the grace period are killed as well`() throws {
    let group = try start()
    stop()
    fixture.endLeader(.exited(0), leavingOthers: true)
    fixture.advance(by: .seconds(10))
    #expect(sent.last == .kill)
    group.endOthers()
    fixture.advance(by: .milliseconds(20))
    #expect(story.suffix(2) == ["gone", "at rest"])
  }

  @Test func `a process that cannot be killed is reported, and awaited without a timer`() throws {
    try start()
    stop()
    fixture.advance(by: .seconds(12))
    #expect(story.suffix(3) == ["not stopped: held", "stopped with 137", "at rest"])
    #expect(pendingCount == 0)
    fixture.endLeader(.signaled(.kill))
    #expect(story.suffix(2) == ["at rest", "gone"], "its end was reported")
  }

  @Test func `leftover processes that cannot be killed are awaited, more and more seldom`() throws {
    let group = try start()
    fixture.endLeader(.exited(0), leavingOthers: true)
    fixture.onQueue { worker.start(.change) }
    fixture.advance(by: .seconds(60))
    #expect(
      story == [
        "byItself with 0", "at rest", "stopping", "killing after 10.0 seconds",
        "not stopped: held, awaited",
      ])
    #expect(pendingCount == 1)
    group.endOthers()
    fixture.advance(by: .seconds(2))
    #expect(story.suffix(2) == ["gone", "command 2"])
    #expect(pendingCount == 0)
  }

  @Test func `a process of another user is reported at once, and never sent SIGKILL`() throws {
    let group = try start()
    group.refusesSignals = true
    stop()
    let all = ["stopping", "not stopped: root", "stopped with 137", "at rest"]
    #expect(story == all[...])
    fixture.advance(by: .seconds(60))
    #expect(story == all[...])
    #expect(!sent.contains(.kill))
    fixture.endLeader(.exited(0))
    #expect(story == (all + ["gone"])[...])
  }

  @Test func `another stop sends the signals again`() throws {
    let group = try start()
    group.refusesSignals = true
    stop()
    stop()
    #expect(story.count { $0 == "not stopped: root" } == 2)
    group.refusesSignals = false
    stop()
    fixture.endLeader(.signaled(.terminate))
    #expect(story.suffix(2) == ["gone", "at rest"])
  }

  @Test func `a group that is gone while it is being stopped is not killed`() throws {
    let group = try start()
    end()
    fixture.endLeader(.exited(0), leavingOthers: true)
    group.endOthers()
    end()
    #expect(sent == [.terminate, .continue], "its number may be another's by now")
    #expect(story.suffix(2) == ["gone", "finished"])
  }

  @Test func `a stop is begun once, and a kill waits for nothing`() throws {
    try start()
    stop()
    stop()
    #expect(sent == [.terminate, .continue])
    end()
    end()
    end()
    #expect(sent == [.terminate, .continue, .kill])
    #expect(story == ["stopping", "killing"])
  }

  @Test func `a group that has gone by itself is sent nothing`() throws {
    let group = try start()
    fixture.endLeader(.exited(0), leavingOthers: true)
    group.endOthers()
    stop()
    #expect(sent.isEmpty)
    #expect(story.suffix(2) == ["gone", "at rest"])
  }

  @Test func `signals go to the group while it exists`() throws {
    send(.interrupt)
    #expect(sent.isEmpty)
    try start()
    send(.interrupt)
    #expect(fixture.launcher.calls == [.launch(["run"]), .send(.interrupt, group: 1)])
    fixture.endLeader(.exited(0))
    send(.interrupt)
    #expect(sent == [.interrupt])
  }

  @Test func `a timer of an earlier run does nothing to the next`() throws {
    let fixture = WorkerFixture(ManualScheduler(honoursCancelling: false))
    let worker = fixture.worker()
    fixture.onQueue { worker.start(.start) }
    fixture.onQueue { worker.start(.change) }
    fixture.endLeader(.exited(0))
    fixture.advance(by: .seconds(60))
    #expect(fixture.sent == [.terminate, .continue])
    #expect(fixture.story.entries.last == "command 2")
  }

  // MARK: A program that is being written

  private func startBusy() {
    fixture.launcher.failLaunches(with: SystemError(call: "posix_spawn", code: ETXTBSY))
    fixture.onQueue { worker.start(.start) }
  }

  @Test func `a program that is being written is started when it can be executed`() throws {
    startBusy()
    fixture.advance(by: .milliseconds(100))
    #expect(story.isEmpty && fixture.launcher.groups.isEmpty)
    fixture.launcher.failLaunches(with: nil)
    fixture.advance(by: .milliseconds(200))
    fixture.endLeader(.exited(0))
    #expect(story == ["byItself with 0", "at rest"])
    #expect(pendingCount == 0)
  }

  @Test func `a program that is written for more than a second fails to start`() throws {
    startBusy()
    fixture.advance(by: .milliseconds(900))
    #expect(story.isEmpty)
    fixture.advance(by: .milliseconds(200))
    #expect(story == ["not started: 126", "at rest"])
    #expect(fixture.launcher.calls.count == 8)
    #expect(pendingCount == 0)
  }

  @Test func `the timeout of a start that has failed does not stop the next run`() throws {
    let worker = fixture.worker { $0.policy.timeout = .seconds(5) }
    fixture.launcher.failLaunches(with: SystemError(call: "posix_spawn", code: ETXTBSY))
    fixture.onQueue { worker.start(.start) }
    fixture.advance(by: .milliseconds(1100))
    #expect(story.last == "at rest" && fixture.scheduler.pendingCount == 0)
  }

  @Test func `a stop cancels a pending launch at once`() throws {
    startBusy()
    send(.interrupt)
    stop()
    #expect(story == ["stopped with 143", "gone", "at rest"])
    fixture.launcher.failLaunches(with: nil)
    fixture.advance(by: .seconds(2))
    #expect(fixture.launcher.groups.isEmpty && sent.isEmpty)
  }
}
