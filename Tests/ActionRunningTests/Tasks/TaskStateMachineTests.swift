import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Inputs of the machine, and its actions in a short notation.
private struct Script {
  var machine: TaskStateMachine
  /// The latest generation of the check, or of the pause, of each task.
  private(set) var generations: [String: Int] = [:]

  init(_ rules: [TaskStateMachine.Rules], jobs: Int = 9) {
    machine = TaskStateMachine(rules, jobs: jobs)
  }

  /// Performs the step, and returns the machine's actions: `+a` to start, `&a` to start again after its
  /// end, `~a` to stop, `a!` to signal, `a?b` to skip because of b, `a=b` to keep, `?a` to judge changes
  /// before a, `a…` to await, `a*` ready, `a-` late, `a%` to back off, `.` for a round's end.
  mutating func callAsFunction(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) -> [String] {
    step(&machine).compactMap { action in
      switch action {
      case .start(let name, .restart): return "&" + name
      case .start(let name, _): return "+" + name
      case .stop(let name): return "~" + name
      case .signal(let name, _, _): return name + "!"
      case .skip(let name, let because): return name + "?" + because
      case .keep(let name, let because): return name + "=" + because
      case .judgeChanges(let name): return "?" + name
      case .awaitReadiness(let name, let generation):
        generations[name] = generation
        return name + "…"
      case .giveUpReadiness: return nil
      case .reportReady(let name): return name + "*"
      case .reportLate(let name): return name + "-"
      case .backOff(let name, let generation):
        generations[name] = generation
        return name + "%"
      case .endRound: return "."
      case .end(let name): return "end " + name
      case .retire(let name): return "retire " + name
      case .killAll: return "kill"
      case .finish: return "finish"
      }
    }
  }

  mutating func change(_ names: String...) -> [String] {
    self { $0.changed(Set(names)) }
  }

  mutating func end(_ name: String, _ result: TaskStateMachine.Result = .succeeded) -> [String] {
    self { $0.ended(name, result) }
  }

  mutating func judge(_ names: String...) -> [String] {
    self { $0.changesAreJudged(Set(names)) }
  }

  mutating func isReady(_ name: String, after generation: Int? = nil) -> [String] {
    let generation = generation ?? generations[name] ?? 0
    return self { $0.serviceIsReady(name, generation: generation) }
  }

  mutating func isLate(_ name: String) -> [String] {
    let generation = generations[name] ?? 0
    return self { $0.serviceIsLate(name, generation: generation) }
  }

  mutating func backOffIsOver(_ name: String) -> [String] {
    let generation = generations[name] ?? 0
    return self { $0.backOffIsOver(name, generation: generation) }
  }

  func state(_ name: String) -> TaskStateMachine.State? { machine.state(of: name) }
}

private func rules(
  _ name: String, after: String..., policy: BusyPolicy? = nil, service: Bool = false,
  ready: Bool? = nil, alive: Bool? = nil, postponed: Bool = false
) -> TaskStateMachine.Rules {
  var rules = TaskStateMachine.Rules(name, dependencies: after)
  (rules.policy, rules.isService, rules.isPostponed) = (policy, service, postponed)
  (rules.keepsAlive, rules.hasReadiness) = (alive ?? service, ready ?? service)
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

  @Test func `requests are listed in the order in which they begin, with their causes`() {
    typealias Request = TaskStateMachine.Request
    var script = Script([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1)
    #expect(script.machine.requests == [])
    _ = script { $0.start() }
    let (x, b) = (
      Request(name: "x", reason: .start, cause: .job(usedBy: ["a"])),
      Request(name: "b", reason: .start, cause: .dependencies(["a"]))
    )
    #expect(script.machine.requests == [x, b])
    _ = script.change("a")
    #expect(
      script.machine.requests == [.init(name: "a", reason: .change, cause: .runs(["a"])), x, b])
    _ = script { $0.pause() }
    #expect(script.machine.requests.map(\.cause) == [.pause, .pause, .pause])
    _ = script { $0.stop() }
    #expect(script.machine.requests == [])
  }

  @Test func `a task waits until the runs that depend on it have ended`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    _ = script.end("a")
    _ = script.change("a")
    #expect(
      script.machine.requests == [
        .init(name: "a", reason: .change, cause: .dependents(["b"]))
      ])
    _ = script.end("b")
    #expect(script.machine.requests == [])
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

  @Test func `a failure is passed on only when no newer run is requested`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a", .failed) == ["+a"])
    #expect(script.end("a", .failed) == ["b?a", "."])
    #expect(script.state("b") == .skipped(because: "a"))
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

  @Test func `a task with restart does not wait for descendants without a policy of their own`() {
    var script = Script([
      rules("a", policy: .restart), rules("b", after: "a"), rules("c", after: "b"),
      rules("i", after: "a", policy: .ignore), rules("q", after: "a", policy: .queue),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+b", "+i", "+q"])
    #expect(script.change("a") == ["~b"])
    #expect(script.end("b", .cancelled) == [])
    #expect(script.end("q") == [])
    #expect(script.end("i") == ["+a"])
    #expect(script.change("a") == ["~a"])
    #expect(script.end("a", .cancelled) == ["+a"])
    #expect(script.end("a") == ["+b", "+i", "+q"])
    #expect(script.end("b") == ["+c"])
    #expect(script.change("b") == [])
    #expect(script.end("c") == ["+b"])
  }

  @Test func `ignore lets a change during the run go by, and signal sends one`() {
    var script = Script([rules("a", policy: .ignore), rules("b", policy: .signal(.hangup))])
    #expect(script { $0.start() } == ["+a", "+b"])
    #expect(script.change("a", "b") == ["b!"])
    #expect(script.end("a") == [])
    #expect(script.end("b") == ["."])
  }

  @Test func `a key during a run that ignores changes leads to one more`() {
    var script = Script([rules("a", policy: .ignore)])
    #expect(script { $0.start() } == ["+a"])
    #expect(script { $0.keyPressed() } == [])
    #expect(script.end("a") == ["+a"])
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

  // MARK: Judged changes

  @Test func `a service waits until the changes are judged that were made while its ancestors ran`()
  {
    var script = Script([rules("a"), rules("b", after: "a"), rules("s", after: "b", service: true)])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["?s"])
    #expect(script.state("s") == .ready)
    #expect(script.judge("x") == [])
    #expect(script.judge("a", "b", "s") == ["+s"])
    #expect(script.judge("a", "b", "s") == [])
  }

  @Test func `a service that is alone, or whose ancestors did not run, is restarted at once`() {
    var script = Script([rules("a"), rules("s", after: "a", service: true), rules("x")])
    #expect(script { $0.start() } == ["+a", "+x"])
    #expect(script.end("a") == ["?s"])
    #expect(script.judge("s") == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    #expect(script.isReady("s") == ["s*"])
    #expect(script.end("x") == ["."])
    #expect(script.change("s") == ["+s"])
  }

  @Test func `a service is not restarted before an ancestor that proves to have changed`() {
    var script = Script([rules("a"), rules("b", after: "a"), rules("s", after: "b", service: true)])
    _ = script { $0.start() }
    _ = script.end("a")
    #expect(script.end("b") == ["?s"])
    #expect(script.change("a") == ["+a"])
    // This is the answer to the first question, and not to the next.
    #expect(script.judge("a", "b", "s") == [])
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["?s"])
    #expect(script.judge("a", "b", "s") == ["+s"])
  }

  @Test func `any task waits for the judgment of changes that its ancestors are known to have`() {
    var script = Script([rules("a"), rules("b", after: "a"), rules("x")])
    #expect(script { $0.start() } == ["+a", "+x"])
    script.machine.unjudged = ["a"]
    #expect(script.end("a") == ["?b"])
    #expect(script.change("a") == ["+a"])
    script.machine.unjudged = []
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == [])
    script.machine.unjudged = ["b", "x"]
    #expect(script.change("b") == ["+b"], "its own changes and those of strangers are no reason")
  }

  @Test func `a task is judged before once for each of its runs`() {
    var script = Script([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    script.machine.unjudged = ["a"]
    #expect(script.end("a") == ["?b"])
    #expect(script.change("b") == ["?b"], "a newer request may follow newer changes")
    #expect(script.judge("a", "b") == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("b") == ["?b"])
  }

  @Test func `a stopped task no longer waits for a judgment`() {
    var script = Script([rules("a"), rules("s", after: "a", service: true)])
    _ = script { $0.start() }
    #expect(script.end("a") == ["?s"])
    #expect(script { $0.stop() } == ["."])
    #expect(script.judge("a", "s") == [])
    #expect(script.state("s") == .cancelled)
  }

  // MARK: Said once

  @Test func `that a task is skipped or kept is said once in a round`() {
    var script = Script([
      rules("b"), rules("c"), rules("app", after: "b", "c", service: true),
      rules("t", after: "b", "c"),
    ])
    _ = script { $0.start() }
    _ = script.end("b")
    #expect(script.end("c") == ["?app", "+t"])
    #expect(script.judge("app") == ["+app"])
    _ = script { $0.serviceStarted("app") }
    _ = script.isReady("app")
    #expect(script.end("t") == ["."])
    #expect(script.change("b", "c") == ["+b", "+c"])
    #expect(script.end("b", .failed) == ["app=b", "t?b"])
    #expect(script.end("c") == ["."])
    // The next round says it again.
    #expect(script.change("c") == ["+c"])
    #expect(script.end("c") == ["app=b", "t?b", "."])
  }
}

// MARK: - Services

/// Services and commands that are kept alive.
struct TaskStateMachineServiceTests {
  private func start(_ script: inout Script, _ name: String) {
    #expect(script { $0.serviceStarted(name) } == [name + "…"])
  }

  @Test func `a service is restarted after the run that tests it has ended`() {
    var script = Script([
      rules("s", policy: .restart, service: true), rules("t", after: "s", policy: .queue),
    ])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.change("s") == [])
    #expect(script.end("t") == ["+s"])
  }

  @Test(arguments: [nil, .queue, .restart] as [BusyPolicy?])
  func `a change of a service that runs starts it again, by default too`(policy: BusyPolicy?) {
    var script = Script([rules("s", policy: policy, service: true)])
    #expect(script { $0.start() } == ["+s"])
    start(&script, "s")
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s", after: 1) == [])
    #expect(script.isReady("s") == ["s*", "."])
  }

  @Test func `a service that ignores changes is restarted by a key only`() {
    var script = Script([rules("s", policy: .ignore, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["."])
    #expect(script { $0.keyPressed() } == ["+s"])
  }

  @Test func `a service that is signaled keeps running, and its dependents run`() {
    var script = Script([
      rules("s", policy: .signal(.hangup), service: true), rules("t", after: "s"),
    ])
    #expect(script { $0.start() } == ["+s"])
    #expect(script.change("s") == ["s!"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["."])
    #expect(script.change("s") == ["s!", "+t"])
  }

  @Test func `a service without a readiness check is ready at its start`() {
    var script = Script([rules("s", service: true, ready: false)])
    #expect(script { $0.start() } == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["."])
  }

  @Test func `a service that crashed is started again, and then the tasks that were skipped run`() {
    var script = Script([
      rules("s", service: true), rules("t", after: "s"), rules("u", after: "t"),
    ])
    #expect(script { $0.start() } == ["+s"])
    start(&script, "s")
    #expect(script { $0.serviceEnded("s", .succeeded) } == ["t?s", "u?s", "."])
    #expect(script.state("s") == .failed)
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script { $0.serviceIsAtRest("s") } == [])
    #expect(script.backOffIsOver("s") == ["&s"])
    #expect(script.backOffIsOver("s") == [])
    start(&script, "s")
    // The readiness of the crashed generation is ignored.
    #expect(script.isReady("s", after: 1) == [])
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["+u"])
  }

  @Test(arguments: [.succeeded, .failed] as [TaskStateMachine.Result])
  func `a service that is not kept alive has the result of its end`(
    result: TaskStateMachine.Result
  ) {
    var script = Script([rules("s", service: true, ready: false, alive: false)])
    _ = script { $0.start() }
    #expect(script { $0.serviceStarted("s") } == ["."])
    #expect(script { $0.serviceEnded("s", result) } == [])
    #expect(script.state("s") == result.state)
    #expect(script { $0.serviceIsAtRest("s") } == [])
    #expect(script.change("s") == ["+s"])
  }

  @Test func `a change during the pause before a restart starts the service at once`() {
    var script = Script([rules("s", service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.change("s") == ["+s"])
    #expect(script.backOffIsOver("s") == [])
  }

  @Test func `a change before a crashed service is at rest starts it once`() {
    var script = Script([rules("s", service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script.change("s") == ["+s"])
    #expect(script { $0.serviceIsAtRest("s") } == [])
  }

  @Test func `what is stopped during the pause before a restart stays so`() {
    var script = Script([rules("s", service: true), rules("k", alive: true)])
    #expect(script { $0.start() } == ["+s", "+k"])
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.end("k", .failed) == ["k%", "."])
    #expect(script { $0.stop() } == ["~s", "."])
    #expect(script.backOffIsOver("s") == [])
    #expect(script.backOffIsOver("k") == [])
    #expect(script.change("s", "k") == ["+s", "+k"])
  }

  @Test func `a command that is kept alive passes its result on, and starts again when it may`() {
    var script = Script([rules("k", alive: true), rules("t", after: "k")], jobs: 1)
    #expect(script { $0.start() } == ["+k"])
    #expect(script.end("k") == ["k%", "+t"])
    #expect(script.backOffIsOver("k") == [], "its dependent runs")
    #expect(script.end("t") == ["&k"])
    #expect(script.end("k", .failed) == ["t?k", "k%", "."])
    #expect(script { $0.pause() } == [])
    #expect(script.backOffIsOver("k") == [])
    #expect(script { $0.resume() } == ["&k"])
  }

  @Test func `a restart does not wait for a dependency that failed`() {
    var script = Script([rules("a"), rules("s", after: "a", service: true)])
    _ = script { $0.start() }
    _ = script.end("a")
    #expect(script.judge("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("a") == ["+a"])
    #expect(script { $0.serviceEnded("s", .failed) } == [])
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.backOffIsOver("s") == [], "the dependency runs")
    #expect(script.end("a", .failed) == ["s?a", "&s", "."])
  }

  @Test func `a service that becomes ready late runs the tasks that were skipped`() {
    var script = Script([
      rules("s", service: true), rules("t", after: "s"), rules("u", after: "t"),
    ])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isLate("s") == ["s-", "t?s", "u?s", "."])
    #expect(script.state("s") == .failed)
    #expect(script.isLate("s") == [])
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["+u"])
    #expect(script.state("s") == .succeeded)
  }

  @Test func `a late service that is stopped or restarted does not become ready`() {
    var script = Script([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script.isLate("s")
    _ = script { $0.stop() }
    #expect(script.isReady("s", after: 1) == [])
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s", after: 1) == [])
    #expect(script.isReady("s") == ["s*", "+t"])
  }

  @Test
  func `a crash of a ready service skips only tasks that are requested until it is ready again`() {
    var script = Script([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["."])
    #expect(script { $0.serviceEnded("s", .failed) } == [])
    #expect(script.state("t") == .succeeded)
    #expect(script.change("t") == ["t?s", "."])
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.backOffIsOver("s") == ["&s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
  }

  @Test func `a service that is kept, and becomes ready late, is still that of before the failure`()
  {
    var script = Script([
      rules("a"), rules("s", after: "a", service: true), rules("t", after: "s"),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["?s"])
    #expect(script.judge("s") == ["+s"])
    start(&script, "s")
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a", .failed) == ["s=a", "t?a", "."])
    #expect(script.isReady("s") == ["s*"])
    #expect(script.state("t") == .skipped(because: "a"))
  }
}
