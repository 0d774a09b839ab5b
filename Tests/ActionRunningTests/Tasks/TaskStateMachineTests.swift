import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Inputs of the machine, and its actions in a short notation.
private struct Script {
  var machine: TaskStateMachine
  private(set) var said: [String] = []

  init(_ rules: [TaskStateMachine.Rules], jobs: Int = 9) {
    machine = TaskStateMachine(rules, jobs: jobs)
  }

  /// Performs the step, and returns the machine's actions: `+a` to start, `~a` to stop, `a!` to signal,
  /// `a?b` to skip because of b, `a=b` to keep, `a…` to await, `a*` ready, `a-` late, `.` for a round's end.
  mutating func callAsFunction(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) -> [String] {
    step(&machine).compactMap { action in
      switch action {
      case .start(let name, _): "+" + name
      case .stop(let name): "~" + name
      case .signal(let name, _, _): name + "!"
      case .skip(let name, let because): name + "?" + because
      case .keep(let name, let because): name + "=" + because
      case .awaitReadiness(let name, _): name + "…"
      case .giveUpReadiness: nil
      case .reportReady(let name): name + "*"
      case .reportLate(let name): name + "-"
      case .endRound: "."
      case .end(let name): "end " + name
      case .retire(let name): "retire " + name
      case .killAll: "kill"
      case .finish: "finish"
      }
    }
  }

  mutating func change(_ names: String...) -> [String] {
    self { machine in
      machine.changed(Dictionary(uniqueKeysWithValues: names.map { ($0, .change("f")) }))
    }
  }

  mutating func end(_ name: String, _ result: TaskStateMachine.Result = .succeeded) -> [String] {
    self { $0.ended(name, result) }
  }

  func state(_ name: String) -> TaskStateMachine.State? { machine.state(of: name) }
}

private func rules(
  _ name: String, after: String..., policy: BusyPolicy = .queue, service: Bool = false,
  postponed: Bool = false
) -> TaskStateMachine.Rules {
  var rules = TaskStateMachine.Rules(name, dependencies: after)
  rules.policy = policy
  (rules.runsOn, rules.hasReadiness, rules.isPostponed) = (service, service, postponed)
  return rules
}

struct TaskStateMachineTests {
  @Test func `a task passes through its states`() {
    var script = Script([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1)
    #expect(script.state("a") == .pending)
    #expect(script { $0.start() } == ["+a"])
    #expect(script.state("a") == .running)
    #expect(script.state("x") == .ready)
    #expect(script.state("b") == .pending)
    #expect(script.end("a") == ["+x"])
    #expect(script.state("a") == .succeeded)
    #expect(script.state("b") == .ready)
    #expect(script.end("x", .failed) == ["+b"])
    #expect(script.state("x") == .failed)
    #expect(script { $0.stop() } == ["~b"])
    #expect(script.end("b", .cancelled) == ["."])
    #expect(script.state("b") == .cancelled)
    #expect(script.state("c") == nil)
  }

  @Test func `what waits is listed in the order in which it begins, with its cause`() {
    var script = Script([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1)
    #expect(script.machine.waiting == [])
    _ = script { $0.start() }
    let (x, b) = (
      TaskRunner.Waiting("x", .start, for: .job(heldBy: ["a"])),
      TaskRunner.Waiting("b", .start, for: .dependencies(["a"]))
    )
    #expect(script.machine.waiting == [x, b])
    _ = script.change("a")
    #expect(script.machine.waiting == [.init("a", .change, for: .ownRun), x, b])
    _ = script { $0.pause() }
    #expect(script.machine.waiting.map(\.cause) == [.pause, .pause, .pause])
    _ = script { $0.stop() }
    #expect(script.machine.waiting == [])
  }

  @Test func `a task waits until the runs that depend on it have ended`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    _ = script.end("a")
    _ = script.change("a")
    #expect(script.machine.waiting == [.init("a", .change, for: .dependents(["b"]))])
    _ = script.end("b")
    #expect(script.machine.waiting == [])
  }

  @Test func `dependents of a requested task are pending, not succeeded`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("a") == ["+a"])
    #expect(script.state("b") == .pending)
    #expect(script.change("b") == [])
    #expect(script.end("a") == ["+b"])
  }

  @Test func `a success is passed on only when no newer run is requested`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+a"])
    #expect(script.end("a") == ["+b"])
  }

  @Test func `a task does not begin while a descendant runs`() {
    var script = Script([rules("a"), rules("b", after: "a"), rules("c", after: "b")])
    _ = script { $0.start() }
    _ = script.end("a")
    #expect(script.end("b") == ["+c"])
    #expect(script.change("a") == [])
    #expect(script.state("a") == .pending)
    #expect(script.end("c") == ["+a"])
  }

  @Test func `with restart, an outdated run is stopped at once`() {
    var script = Script([
      rules("a"), rules("b", after: "a", policy: .restart), rules("c", after: "a"),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+b", "+c"])
    #expect(script.change("a") == ["~b"])
    #expect(script.end("b", .cancelled) == [])
    #expect(script.end("c") == ["+a"])
    #expect(script.end("a") == ["+b", "+c"])
  }

  @Test func `a task with restart does not wait for its descendants`() {
    var script = Script([
      rules("a", policy: .restart), rules("b", after: "a"), rules("c", after: "b"),
      rules("i", after: "a", policy: .ignore),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+b", "+i"])
    #expect(script.change("a") == ["~b"])
    #expect(script.end("b", .cancelled) == [])
    #expect(script.end("i") == ["+a"])
    #expect(script.change("a") == ["~a"])
    #expect(script.end("a", .cancelled) == ["+a"])
    #expect(script.end("a") == ["+b", "+i"])
    #expect(script.end("b") == ["+c"])
    #expect(script.change("b") == [])
    #expect(script.end("c") == ["+b"])
  }

  @Test func `a service is restarted after the run that tests it has ended`() {
    var script = Script([
      rules("s", policy: .restart, service: true), rules("t", after: "s"),
    ])
    _ = script { $0.start() }
    _ = script { $0.serviceStarted("s") }
    #expect(script { $0.serviceIsReady("s", generation: 1) } == ["s*", "+t"])
    #expect(script.change("s") == [])
    #expect(script.end("t") == ["+s"])
  }

  @Test func `ignore lets a change during the run go by, and signal sends one`() {
    var script = Script([rules("a", policy: .ignore), rules("b", policy: .signal(.hangup))])
    #expect(script { $0.start() } == ["+a", "+b"])
    #expect(script.change("a", "b") == ["b!"])
    #expect(script.end("a") == [])
    #expect(script.end("b") == ["."])
  }

  @Test func `a service that crashed is started again, and then the tasks that were skipped run`() {
    var script = Script([
      rules("s", service: true), rules("t", after: "s"), rules("u", after: "t"),
    ])
    #expect(script { $0.start() } == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    #expect(script { $0.serviceCrashed("s") } == ["t?s", "u?s", "."])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    // The readiness of the crashed generation is ignored.
    #expect(script { $0.serviceIsReady("s", generation: 1) } == [])
    #expect(script { $0.serviceIsReady("s", generation: 2) } == ["s*", "+t"])
    #expect(script.end("t") == ["+u"])
  }

  @Test func `a service that becomes ready late runs the tasks that were skipped`() {
    var script = Script([
      rules("s", service: true), rules("t", after: "s"), rules("u", after: "t"),
    ])
    _ = script { $0.start() }
    _ = script { $0.serviceStarted("s") }
    #expect(script { $0.serviceIsLate("s", generation: 1) } == ["s-", "t?s", "u?s", "."])
    #expect(script.state("s") == .failed)
    #expect(script { $0.serviceIsLate("s", generation: 1) } == [])
    #expect(script { $0.serviceIsReady("s", generation: 1) } == ["s*", "+t"])
    #expect(script.end("t") == ["+u"])
    #expect(script.state("s") == .succeeded)
  }

  @Test func `a late service that is stopped or restarted does not become ready`() {
    var script = Script([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    _ = script { $0.serviceStarted("s") }
    _ = script { $0.serviceIsLate("s", generation: 1) }
    _ = script { $0.stop() }
    #expect(script { $0.serviceIsReady("s", generation: 1) } == [])
    #expect(script.change("s") == ["+s"])
    _ = script { $0.serviceStarted("s") }
    #expect(script { $0.serviceIsReady("s", generation: 1) } == [])
    #expect(script { $0.serviceIsReady("s", generation: 2) } == ["s*", "+t"])
  }

  @Test
  func `a crash of a ready service skips only tasks that are requested until it is ready again`() {
    var script = Script([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    _ = script { $0.serviceStarted("s") }
    #expect(script { $0.serviceIsReady("s", generation: 1) } == ["s*", "+t"])
    #expect(script.end("t") == ["."])
    #expect(script { $0.serviceCrashed("s") } == [])
    #expect(script.state("t") == .succeeded)
    #expect(script.change("t") == ["t?s", "."])
    _ = script { $0.serviceStarted("s") }
    #expect(script { $0.serviceIsReady("s", generation: 2) } == ["s*", "+t"])
  }

  @Test func `a service that is kept, and becomes ready late, is still that of before the failure`()
  {
    var script = Script([
      rules("a"), rules("s", after: "a", service: true), rules("t", after: "s"),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+s"])
    _ = script { $0.serviceStarted("s") }
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a", .failed) == ["s=a", "t?a", "."])
    #expect(script { $0.serviceIsReady("s", generation: 1) } == ["s*"])
    #expect(script.state("t") == .skipped(because: "a"))
  }

  @Test func `a postponed task keeps its dependents waiting until a change needs both`() {
    var script = Script([
      rules("a"), rules("p", postponed: true), rules("b", after: "a", "p"),
    ])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["."])
    #expect(script.state("b") == .pending)
    #expect(script.change("b") == ["+p"])
    #expect(script.end("p") == ["+b"])
  }

  @Test func `a pause holds requests, and a key overrides it`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script { $0.pause() } == [])
    #expect(script.end("a") == ["."])
    #expect(script { $0.keyPressed() } == ["+a"])
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("a") == [])
    #expect(script { $0.resume() } == ["+a"])
  }

  @Test func `each task ends before its dependencies, and a second request kills all`() {
    var script = Script([rules("a"), rules("b", after: "a"), rules("c", after: "a")])
    _ = script { $0.start() }
    #expect(script { $0.end() } == ["end c", "end b"])
    #expect(script { $0.isGone("b") } == [])
    #expect(script { $0.isGone("c") } == ["end a"])
    #expect(script { $0.end() } == ["kill"])
    #expect(script { $0.isGone("a") } == ["finish"])
    #expect(script.change("a") == [])
  }

  @Test func `a new graph retires changed tasks, keeps the others, and waits for those that end`() {
    var script = Script([rules("a"), rules("c"), rules("b", after: "a")], jobs: 1)
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["+c"])
    let new = [rules("a"), rules("c", policy: .restart), rules("b", after: "a")]
    // The place is held, and the name taken, until it has gone.
    #expect(script { $0.replace(new, jobs: 1, keeping: ["a", "b"]) } == ["retire c"])
    #expect(script.state("b") == .ready)
    #expect(script { $0.isGone("c") } == ["+c"])
    #expect(script.end("c") == ["+b"])
    #expect(script.state("a") == .succeeded)
  }
}
