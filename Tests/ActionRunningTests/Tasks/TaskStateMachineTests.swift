import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

struct TaskStateMachineTests {
  @Test func `a task below a postponed one is not skipped because of a failure that is mended`() {
    var script = MachineScript([
      rules("a"), rules("p", postponed: true), rules("b", after: "a", "p"), rules("c", after: "b"),
    ])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a", .failed) == ["b?a", "c?a", "."])
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a") == ["."])
    #expect(script.change("c") == ["+p"])
  }

  @Test func `a task passes through its states`() {
    var script = MachineScript([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1)
    #expect(script.state("a") == .pending)
    #expect(script { $0.start() } == ["+a"])
    #expect(script.state("a") == .running)
    #expect(script.state("x") == .pending)
    #expect(script.state("b") == .pending)
    #expect(script.end("a") == ["+x"])
    #expect(script.state("a") == .succeeded)
    #expect(script.state("b") == .pending)
    #expect(script.end("x", .failed) == ["+b"])
    #expect(script.state("x") == .failed)
    #expect(script { $0.stop() } == ["~b"])
    #expect(script.end("b", .cancelled) == ["."])
    #expect(script.state("b") == .cancelled)
    #expect(script.state("c") == nil)
  }

  @Test func `requests are listed in the order in which they begin, with their causes`() {
    var script = MachineScript([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1)
    #expect(script.machine.requests == [])
    _ = script { $0.start() }
    let (x, b) = (
      TaskRunner.Waiting("x", RunTrigger(.start), for: .job(usedBy: ["a"])),
      TaskRunner.Waiting("b", RunTrigger(.start), for: .dependencies(["a"]))
    )
    #expect(script.machine.requests == [x, b])
    _ = script.change("a")
    #expect(script.machine.requests == [.init("a", RunTrigger(.change), for: .runs(["a"])), x, b])
    _ = script { $0.pause() }
    #expect(script.machine.requests.map(\.cause) == [.pause, .pause, .pause])
    _ = script { $0.stop() }
    #expect(script.machine.requests == [])
  }

  @Test func `a manual task starts only when it is requested itself`() {
    var manual = rules("b", after: "a")
    (manual.isManual, manual.isPostponed) = (true, true)
    var script = MachineScript([rules("a"), manual])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["."])
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a", .failed) == ["."])
    #expect(script { $0.keyPressed() } == ["+a"])
    #expect(script.end("a") == ["."])
    #expect(script { $0.keyPressed(["b"]) } == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a") == ["."])
  }

  @Test func `a task has no result while one of those that it depends on has none, or a newer one`()
  {
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("c", after: "b")])
    _ = script { $0.start() }
    for name in ["a", "b", "c"] { _ = script.end(name) }
    #expect(!script.machine.lacksResult("c"))
    _ = script { $0.pause() }
    _ = script.change("a")
    #expect(script.machine.lacksResult("b") && script.machine.lacksResult("c"))

    var manual = rules("b", after: "a")
    (manual.isManual, manual.isPostponed) = (true, true)
    script = MachineScript([rules("a"), manual, rules("c", after: "b")])
    _ = script { $0.start() }
    _ = script.end("a")
    _ = script { $0.keyPressed(["b", "c"]) }
    for name in ["b", "c"] { _ = script.end(name) }
    #expect(!script.machine.lacksResult("c"))
    _ = script.change("a")
    _ = script.end("a")
    #expect(script.machine.lacksResult("b") && script.machine.lacksResult("c"))
  }

  @Test func `a task waits until the runs that depend on it have ended`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    _ = script.end("a")
    _ = script.change("a")
    #expect(script.machine.requests == [.init("a", RunTrigger(.change), for: .dependents(["b"]))])
    _ = script.end("b")
    #expect(script.machine.requests == [])
  }

  @Test func `dependents of a requested task are pending, not succeeded`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("a") == ["+a"])
    #expect(script.state("b") == .pending)
    #expect(script.change("b") == [])
    #expect(script.end("a") == ["+b"])
  }

  @Test func `a success is passed on only when no newer run is requested`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+a"])
    #expect(script.end("a") == ["+b"])
  }

  @Test func `a failure is passed on only when no newer run is requested`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a", .failed) == ["+a"])
    #expect(script.end("a", .failed) == ["b?a", "."])
    #expect(script.state("b") == .skipped(because: "a"))
  }

  @Test func `a task does not begin while a descendant runs`() {
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("c", after: "b")])
    _ = script { $0.start() }
    _ = script.end("a")
    #expect(script.end("b") == ["+c"])
    #expect(script.change("a") == [])
    #expect(script.state("a") == .pending)
    #expect(script.end("c") == ["+a"])
  }

  @Test func `with restart, an outdated run is stopped at once`() {
    var script = MachineScript([
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
    var script = MachineScript([
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

  @Test(arguments: [true, false])
  func `a run that changes have stopped ten times in a row reaches its end`(isOwnChange: Bool) {
    var script = MachineScript([rules("a", policy: .restart), rules("b", after: "a")])
    let running = isOwnChange ? "a" : "b"
    _ = script { $0.start() }
    if !isOwnChange { _ = script.end("a") }
    for _ in 0..<2 {
      for _ in 0..<10 {
        #expect(script.machine.isBuilding("a"))
        #expect(script.change("a") == ["~" + running])
        #expect(script.end(running, .cancelled) == ["+a"])
        if !isOwnChange { #expect(script.end("a") == ["+b"]) }
      }
      // What changes from now on is judged at the end.
      #expect(!script.machine.isBuilding("a"))
      #expect(script.change("a") == [])
      #expect(script.state(running) == .running)
      // What has changed meanwhile follows, and the count begins anew.
      #expect(script.end(running) == ["+a"])
      if !isOwnChange { #expect(script.end("a") == ["+" + running]) }
    }
  }

  @Test func `a key stops a run also after ten stops in a row, and does not count`() {
    var script = MachineScript([rules("a", policy: .restart)])
    _ = script { $0.start() }
    for count in 0..<20 {
      let isByKey = count % 2 == 0
      #expect((isByKey ? script { $0.keyPressed() } : script.change("a")) == ["~a"])
      #expect(script.end("a", .cancelled) == ["+a"])
    }
    #expect(script.change("a") == [])
    #expect(script { $0.keyPressed() } == ["~a"])
  }

  @Test func `ignore lets a change during the run go by, and signal sends one`() {
    var script = MachineScript([rules("a", policy: .ignore), rules("b", policy: .signal(.hangup))])
    #expect(script { $0.start() } == ["+a", "+b"])
    #expect(script.change("a", "b") == ["b!"])
    #expect(script.end("a") == [])
    #expect(script.end("b") == ["."])
  }

  @Test func `a key during a run that ignores changes leads to one more`() {
    var script = MachineScript([rules("a", policy: .ignore)])
    #expect(script { $0.start() } == ["+a"])
    #expect(script { $0.keyPressed() } == [])
    #expect(script.end("a") == ["+a"])
  }

  @Test func `a postponed task keeps its dependents waiting until a change needs both`() {
    var script = MachineScript([
      rules("a"), rules("p", postponed: true), rules("b", after: "a", "p"),
    ])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["."])
    #expect(script.state("b") == .pending)
    #expect(script.change("b") == ["+p"])
    #expect(script.end("p") == ["+b"])
  }

  @Test func `a pause holds requests, and a key overrides it`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
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
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("c", after: "a")])
    _ = script { $0.start() }
    #expect(script { $0.end() } == ["end c", "end b"])
    #expect(script { $0.isGone("b") } == [])
    #expect(script { $0.isGone("c") } == ["end a"])
    #expect(script { $0.end() } == ["kill"])
    #expect(script { $0.isGone("a") } == ["finish"])
    #expect(script.change("a") == [])
  }

  @Test func `a new graph retires changed tasks, keeps the others, and waits for those that end`() {
    var script = MachineScript([rules("a"), rules("c"), rules("b", after: "a")], jobs: 1)
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["+c"])
    let new = [rules("a"), rules("c", policy: .restart), rules("b", after: "a")]
    // The place is held, and the name taken, until it has gone.
    #expect(script { $0.replace(new, jobs: 1, keeping: ["a", "b"]) } == ["retire c"])
    #expect(script.state("b") == .pending)
    #expect(script { $0.isGone("c") } == ["+c"])
    #expect(script.end("c") == ["+b"])
    #expect(script.state("a") == .succeeded)
  }

  @Test func `a service that has changed runs again if a person has started it`() {
    var manual = rules("s", service: true, ready: false, postponed: true)
    manual.isManual = true
    var script = MachineScript([manual])
    #expect(script { $0.start() } == [])
    #expect(script { $0.replace([manual], jobs: 9, keeping: []) } == ["retire s"])
    #expect(script { $0.isGone("s") } == [])
    #expect(script { $0.keyPressed(["s"]) } == ["+s"])
    #expect(script { $0.replace([manual], jobs: 9, keeping: []) } == ["retire s"])
    #expect(script { $0.isGone("s") } == ["+s"])
    // Also in the pause after a crash.
    (manual.keepsAlive, manual.hasReadiness) = (true, false)
    script = MachineScript([manual])
    _ = script { $0.start() }
    #expect(script { $0.keyPressed(["s"]) } == ["+s"])
    _ = script { $0.serviceStarted("s") }
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script { $0.replace([manual], jobs: 9, keeping: []) } == ["retire s"])
    #expect(script { $0.isGone("s") } == ["+s"])
    // One that is postponed from now on waits.
    script = MachineScript([rules("s", service: true, ready: false)])
    #expect(script { $0.start() } == ["+s"])
    #expect(script { $0.replace([manual], jobs: 9, keeping: []) } == ["retire s", "."])
    #expect(script { $0.isGone("s") } == [])
  }

  @Test func `a new task waits for the runs of those that are no longer there, as after a rename`()
  {
    var script = MachineScript([rules("build"), rules("a")])
    #expect(script { $0.start() } == ["+build", "+a"])
    let new = [rules("compile"), rules("a", policy: .restart)]
    #expect(script { $0.replace(new, jobs: 9, keeping: []) } == ["retire a", "retire build"])
    #expect(script { $0.isGone("a") } == [])
    #expect(script { $0.isGone("build") } == ["+compile", "+a"])
  }

  @Test func `a changed task does not run beside the run of a retired one that depends on it`() {
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("c")])
    #expect(script { $0.start() } == ["+a", "+c"])
    #expect(script.end("c") == [])
    #expect(script.end("a") == ["+b"])
    let new = [rules("a", policy: .restart), rules("c")]
    #expect(script { $0.replace(new, jobs: 9, keeping: ["c"]) } == ["retire b", "retire a"])
    #expect(script { $0.isGone("a") } == [])
    #expect(script.machine.requests.map(\.cause) == [.dependents(["b"])])
    #expect(script { $0.isGone("b") } == ["+a"])
  }

  // MARK: Judged changes

  @Test func `a service waits until the changes are judged that were made while its ancestors ran`()
  {
    var script = MachineScript([
      rules("a"), rules("b", after: "a"), rules("s", after: "b", service: true),
    ])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == ["?s"])
    #expect(script.state("s") == .pending)
    #expect(script.judge("x") == [])
    #expect(script.judge("a", "b", "s") == ["+s"])
    #expect(script.judge("a", "b", "s") == [])
  }

  @Test func `a task that watches runs once after its ancestors, with what they changed`() {
    var script = MachineScript([rules("gen"), rules("app", after: "gen", watches: true)])
    #expect(script { $0.start() } == ["+gen"])
    #expect(script.end("gen") == ["?app"])
    #expect(script.judge("gen", "app") == ["+app"])
    #expect(script.end("app") == ["."])
    #expect(script.change("app") == ["+app"])
  }

  @Test func `a service that is alone, or whose ancestors did not run, is restarted at once`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true), rules("x")])
    #expect(script { $0.start() } == ["+a", "+x"])
    #expect(script.end("a") == ["?s"])
    #expect(script.judge("s") == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    #expect(script.isReady("s") == ["s*"])
    #expect(script.end("x") == ["."])
    #expect(script.change("s") == ["+s"])
  }

  @Test func `a service is not restarted before an ancestor that proves to have changed`() {
    var script = MachineScript([
      rules("a"), rules("b", after: "a"), rules("s", after: "b", service: true),
    ])
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

  /// A build that writes what is watched, or that a person saves during each time.
  @Test func `a service that was held back once is started after the next success of its build`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true)])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["?s"])
    #expect(script.change("a") == ["+a"])
    #expect(script.judge("a", "s") == [])
    for _ in 0..<3 {
      #expect(script.end("a") == ["?s"])
      #expect(script.change("a") == ["+s", "+a"])
      #expect(script.judge("a", "s") == [])
      #expect(script { $0.serviceStarted("s") } == ["s…"])
    }
    // Nothing is owed: the next time it is held back once again.
    #expect(script.end("a") == ["?s"])
    #expect(script.judge("a", "s") == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("a", "s") == ["+a"])
    #expect(script.end("a") == ["?s"])
    #expect(script.change("a") == ["+a"])
  }

  @Test func `a service is started although its build is requested again during each run`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true)])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+s", "+a"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    // Not before the build that both are owed.
    #expect(script.change("a", "s") == [])
    #expect(script.end("a", .failed) == ["+a"])
    #expect(script.end("a", .failed) == ["s=a", "."])
  }

  /// A person saves during each build.
  @Test func `a service starts after as many stops of its build as there are in a row`() {
    var script = MachineScript([
      rules("a", policy: .restart), rules("s", after: "a", service: true),
    ])
    #expect(script { $0.start() } == ["+a"])
    for _ in 0..<TaskStateMachine.mostStops {
      #expect(script.change("a") == ["~a"])
      #expect(script.end("a", .cancelled) == ["+a"])
    }
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+a"])
    #expect(script.change("a") == [])
    #expect(script.end("a") == ["+s", "+a"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    // The next row, of which nobody has waited for a result.
    #expect(script.end("a") == ["?s"])
    #expect(script.judge("a", "s") == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["s…"])
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("a") == ["+a"])
    #expect(script.change("a") == ["~a"])
  }

  @Test func `a service that waits for its build is not interrupted by a change`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true, ready: false)])
    _ = script { $0.start() }
    _ = script.end("a")
    _ = script.judge("a", "s")
    _ = script { $0.serviceStarted("s") }
    #expect(script.machine.changeInterruptsRun(of: "s"))
    #expect(script.change("a") == ["+a"])
    #expect(!script.machine.changeInterruptsRun(of: "s"))
    #expect(script.end("a") == ["?s"])
    #expect(!script.machine.changeInterruptsRun(of: "s"))
    #expect(script.judge("a", "s") == ["+s"])
    #expect(script.machine.changeInterruptsRun(of: "s"))
  }

  @Test func `any task waits for the judgment of changes that its ancestors are known to have`() {
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("x")])
    #expect(script { $0.start() } == ["+a", "+x"])
    script.machine.owedTasks = ["a"]
    #expect(script.end("a") == ["?b"])
    #expect(script.change("a") == ["+a"])
    script.machine.owedTasks = []
    #expect(script.end("a") == ["+b"])
    #expect(script.end("b") == [])
    script.machine.owedTasks = ["b", "x"]
    #expect(script.change("b") == ["+b"], "its own changes and those of strangers are no reason")
  }

  @Test func `a task is judged before once for each of its runs`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    script.machine.owedTasks = ["a"]
    #expect(script.end("a") == ["?b"])
    #expect(script.change("b") == ["?b"], "a newer request may follow newer changes")
    #expect(script.judge("a", "b") == ["+b"])
    #expect(script.end("b") == ["."])
    #expect(script.change("b") == ["?b"])
  }

  @Test func `a stopped task no longer waits for a judgment`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true)])
    _ = script { $0.start() }
    #expect(script.end("a") == ["?s"])
    #expect(script { $0.stop() } == ["."])
    #expect(script.judge("a", "s") == [])
    #expect(script.state("s") == .cancelled)
  }

  // MARK: Said once

  @Test func `that a task is skipped or kept is said once in a round`() {
    var script = MachineScript([
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

  @Test func `a run that cannot be started yet is stopped for a dependency any number of times`() {
    var machine = MachineScript([rules("a"), rules("b", after: "a", policy: .queue)])
    _ = machine { $0.start() }
    for _ in 1...15 {
      #expect(machine.end("a") == ["+b"])
      machine.machine.tasks["b"]?.isAttempted = true
      #expect(machine.change("a") == ["~b"])
      #expect(machine.end("b", .cancelled) == ["+a"])
    }
    #expect(machine.end("a") == ["+b"])
    #expect(machine.change("a") == [])
  }
}
