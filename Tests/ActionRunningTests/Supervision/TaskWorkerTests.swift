import Dispatch
import FileObservation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Answers when a test says so.
private final class PatientProbe: ReadinessProbe {
  let answers = Log<@Sendable (Bool) -> Void>()

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    answers.note(answer)
  }
}

/// Workers without real processes, and what they report.
struct WorkerFixture {
  let queue = DispatchQueue(label: "worker")
  let scheduler: ManualScheduler
  let launcher = FakeLauncher()
  let story = Log<String>()
  /// Successful ends of the command.
  fileprivate let succeeded = Log<Void>()
  fileprivate let probe = PatientProbe()
  fileprivate let received = Log<RunTrigger.Reason>()
  /// What the next runs receive.
  fileprivate let changed: Confined<[Path]>
  /// The runs that may not start yet; `nil` if all may.
  fileprivate let held: Confined<[@Sendable () -> Void]?>

  init(_ scheduler: ManualScheduler = ManualScheduler()) {
    self.scheduler = scheduler
    held = Confined(nil, to: queue)
    changed = Confined([], to: queue)
  }

  func worker(
    ready: TaskDefinition.Readiness? = nil, _ change: (inout TaskDefinition) -> Void = { _ in }
  ) -> TaskWorker {
    var task = TaskDefinition("t", Command("run"), isService: ready != nil, readiness: ready)
    change(&task)
    let context = TaskWorker.Context(
      queue: queue, scheduler: scheduler, launcher: launcher, probe: probe, directory: "/",
      report: { [story] report in
        if case .run(_, .launched) = report { return }
        story.note(Self.word(report))
      }, output: nil,
      receive: { [received, changed] _, reason in
        received.note(reason)
        return RunTrigger(reason, changes: changed.access { $0.map { .of($0, .modified) } })
      },
      mayStart: { [held] _, retry in
        held.access { held in
          held?.append(retry)
          return held == nil
        }
      },
      notify: { [story, succeeded] _, event in
        if case .exited(_, precedesHook: true) = event { story.note("hook follows") }
        if case .exited(isSuccess: true, _) = event { succeeded.note(()) }
        if case .atRest = event { story.note("at rest") }
        if case .finished = event { story.note("finished") }
      })
    return TaskWorker(task, context)
  }

  private static func word(_ report: TaskReport) -> String {
    switch report {
    case .run(let run, .started): "\(run.job) \(run.number)"
    case .run(_, .ended(let status, _, let ending)): "\(ending) with \(status.code)"
    case .run(_, .notStarted(_, let status)): "not started: \(status.code)"
    case .task(_, .conflict): "conflict"
    case .run(_, .stopping): "stopping"
    case .run(_, .stoppingBy(let command, _)):
      "stopping by \(String(decoding: command.words[0], as: UTF8.self))"
    case .run(_, .killing(let gracePeriod)): gracePeriod.map { "killing after \($0)" } ?? "killing"
    case .run(_, .notStopped(let survivor, let isAwaited)):
      "not stopped: \(survivor?.owner ?? "held")" + (isAwaited ? ", awaited" : "")
    case .run(_, .gone): "gone"
    default: "other"
    }
  }

  func onQueue(_ body: () -> Void) { queue.sync(execute: body) }

  func endLeader(_ status: ExitStatus, leavingOthers: Bool = false) {
    onQueue { launcher.groups.last?.endLeader(status, leavingOthers: leavingOthers) }
  }

  func advance(by duration: Duration) { onQueue { scheduler.advance(by: duration) } }

  /// The signals that were sent, in order.
  var sent: [Signal] {
    launcher.calls.compactMap { if case .send(let signal, _) = $0 { signal } else { nil } }
  }
}

struct TaskWorkerTests {
  private let fixture = WorkerFixture()
  private var launcher: FakeLauncher { fixture.launcher }
  private var probe: PatientProbe { fixture.probe }
  private var story: Log<String> { fixture.story }
  private var received: Log<RunTrigger.Reason> { fixture.received }

  private func worker(
    ready: TaskDefinition.Readiness? = nil, _ change: (inout TaskDefinition) -> Void = { _ in }
  ) -> TaskWorker {
    fixture.worker(ready: ready, change)
  }

  private func onQueue(_ body: () -> Void) { fixture.onQueue(body) }

  private func endLeader(_ status: ExitStatus) { fixture.endLeader(status) }

  private func answer(_ isAnswered: Bool) {
    onQueue { probe.answers.entries.last?(isAnswered) }
  }

  private static let port = TaskDefinition.Readiness(.port(1))

  @Test func `a service is started when no other process answers its readiness check`() {
    let worker = worker(ready: Self.port)
    onQueue { worker.start(.start) }
    #expect(launcher.calls.isEmpty && received.entries.isEmpty)
    answer(false)
    #expect(launcher.calls == [.launch(["run"])])
    endLeader(.exited(0))
    #expect(story.entries == ["command 1", "byItself with 0", "at rest"])

    onQueue { worker.start(.change) }
    answer(true)
    #expect(story.entries.suffix(2) == ["conflict", "at rest"])
    #expect(launcher.calls.count == 1)
    #expect(received.entries == [.start])
  }

  @Test func `no hook follows a start that found a conflict`() {
    let worker = worker(ready: Self.port) { task in
      task.policy.onFailure = Command("hook")
      task.policy.onSuccess = Command("hook")
    }
    onQueue { worker.start(.start) }
    answer(true)
    #expect(story.entries == ["conflict", "at rest"])
    #expect(launcher.calls.isEmpty)
  }

  @Test func `the answer to a start that was stopped does not count for the next one`() {
    let worker = worker(ready: Self.port)
    onQueue { worker.start(.start) }
    onQueue { worker.stop() }
    onQueue { worker.start(.key) }
    onQueue { probe.answers.entries.first?(true) }
    #expect(story.entries == ["at rest"])
    answer(false)
    #expect(launcher.calls == [.launch(["run"])])
    endLeader(.exited(0))
  }

  @Test func `a stop, or an end, cancels a start that waits for the answer`() {
    let worker = worker(ready: Self.port)
    onQueue { worker.start(.start) }
    onQueue { worker.stop() }
    #expect(story.entries == ["at rest"])
    answer(false)
    onQueue { worker.start(.key) }
    onQueue { worker.end() }
    #expect(story.entries == ["at rest", "finished"])
    answer(false)
    #expect(launcher.calls.isEmpty && received.entries.isEmpty)
  }

  @Test func `a service that asks for no conflict, or is ready by a line, is started at once`() {
    var ready = Self.port
    ready.detectsConflicts = false
    for ready in [ready, TaskDefinition.Readiness(.line("up"))] {
      let worker = worker(ready: ready)
      onQueue { worker.start(.start) }
      endLeader(.exited(0))
    }
    #expect(launcher.calls.count == 2)
    #expect(probe.answers.entries.isEmpty)
  }

  @Test func `a process starts when it may, unless its run was stopped before`() {
    let worker = worker()
    onQueue { fixture.held.access { $0 = [] } }
    onQueue { worker.start(.start) }
    onQueue { worker.stop() }
    onQueue { worker.start(.change) }
    #expect(launcher.calls.isEmpty)
    onQueue {
      let retries = fixture.held.access { exchange(&$0, with: nil) } ?? []
      for retry in retries { retry() }
    }
    #expect(launcher.calls == [.launch(["run"])])
    endLeader(.exited(0))
    #expect(
      story.entries == [
        "command 1", "stopped with 143", "gone", "at rest", "command 2", "byItself with 0",
        "at rest",
      ])
  }

  @Test func `the time that a run waits for its process is none of its duration`() {
    let worker = worker()
    onQueue { fixture.held.access { $0 = [] } }
    onQueue { worker.start(.start) }
    fixture.advance(by: .seconds(300))
    onQueue { fixture.held.access { exchange(&$0, with: nil) }?.first?() }
    fixture.advance(by: .seconds(3))
    endLeader(.exited(0))
    onQueue { #expect(worker.state.access(\.duration) == .seconds(3)) }
  }

  @Test func `a process that has waited is started with fewer paths if there are too many`() {
    let worker = worker()
    onQueue { fixture.held.access { $0 = [] } }
    onQueue { worker.start(.start) }
    launcher.failLaunches(with: SystemError(call: "spawn", code: E2BIG))
    onQueue { fixture.held.access { exchange(&$0, with: nil) }?.first?() }
    #expect(launcher.calls == Array(repeating: .launch(["run"]), count: 3))
    #expect(story.entries.suffix(2) == ["not started: 126", "at rest"])
  }

  @Test func `a run that is started during another has the latest reason`() {
    let worker = worker()
    onQueue { worker.start(.start) }
    onQueue { worker.start(.change) }
    onQueue { worker.start(.key) }
    endLeader(.exited(0))
    #expect(
      story.entries == ["command 1", "stopping", "stopped with 0", "gone", "command 2"])
    #expect(received.entries == [.start, .key])
    endLeader(.exited(1))
  }

  @Test func `a hook belongs to the run before it, and what cannot be started ends at once`() {
    let worker = worker { $0.policy.onFailure = Command("hook") }
    onQueue { worker.start(.start) }
    endLeader(.exited(1))
    endLeader(.exited(0))
    launcher.failLaunches(with: SystemError(call: "posix_spawn", code: ENOENT))
    onQueue { worker.start(.change) }
    #expect(
      story.entries == [
        "command 1", "hook follows", "byItself with 1", "hook 1", "byItself with 0", "at rest",
        "command 2", "not started: 127", "hook 2", "not started: 127", "at rest",
      ])
    onQueue { worker.end() }
    #expect(story.entries.last == "finished")
  }

  @Test func `a second end kills`() {
    let worker = worker()
    onQueue { worker.start(.start) }
    onQueue { worker.end() }
    onQueue { worker.end() }
    endLeader(.signaled(.kill))
    #expect(
      story.entries == ["command 1", "stopping", "killing", "stopped with 137", "gone", "finished"])
  }

  @Test func `only the command ends with success, by itself`() {
    let worker = worker { $0.policy.onSuccess = Command("hook") }
    func run(_ end: () -> Void) -> Int {
      onQueue { worker.start(.start) }
      end()
      return fixture.succeeded.entries.count
    }
    #expect(run { endLeader(.exited(1)) } == 0)
    let stopped = run {
      onQueue { worker.stop() }
      endLeader(.exited(0))
    }
    #expect(stopped == 0)
    #expect(run { endLeader(.exited(0)) } == 1)
    // The hook.
    endLeader(.exited(0))
    #expect(fixture.succeeded.entries.count == 1)
  }

  @Test func `the tests of runs that have not succeeded run again with those of the changes`()
    throws
  {
    let directory = try TemporaryDirectory()
    for name in ["a", "b", "c"] { try File.write("", to: directory.path.appending(name)) }
    let map = TestMap([
      .init(try RegularExpression(Array("(.)[.]py".utf8)), targets: [[0x24, 0x31]])
    ])
    let worker = worker { task in
      task.command = Command("run", "{tests}").describingChanges()
      task.command.testMap = map
      task.command.directory = directory.path
    }
    func run(_ changed: String, _ status: Int32, reason: RunTrigger.Reason = .change) -> [String] {
      onQueue {
        fixture.changed.access { $0 = changed.isEmpty ? [] : [directory.path.appending(changed)] }
        worker.start(reason)
      }
      endLeader(.exited(status))
      guard case .launch(let words)? = launcher.calls.last else { return [] }
      return Array(words.dropFirst())
    }
    // No run of all tests has succeeded before the first one.
    #expect(run("a.py", 0) == [])
    #expect(run("a.py", 1) == ["a"])
    #expect(run("b.py", 1) == ["a", "b"])
    try File.remove(directory.path.appending("a"))
    #expect(run("b.py", 0) == ["b"])
    #expect(run("c.py", 0) == ["c"])
    // A failed run of all tests is followed by others until one has succeeded.
    #expect(run("", 1, reason: .key) == [])
    #expect(run("c.py", 0) == [])
    #expect(run("c.py", 0) == ["c"])
  }
}
