import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// Services and commands that are kept alive.
struct TaskStateMachineServiceTests {
  private func start(_ script: inout MachineScript, _ name: String) {
    #expect(script { $0.serviceStarted(name) } == [name + "…"])
  }

  @Test func `a service is restarted after the run that tests it has ended`() {
    var script = MachineScript([
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
    var script = MachineScript([rules("s", policy: policy, service: true)])
    #expect(script { $0.start() } == ["+s"])
    start(&script, "s")
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s", after: 1) == [])
    #expect(script.isReady("s") == ["s*", "."])
  }

  @Test func `a service that overlaps goes on until the next process is ready and it is gone`() {
    var script = MachineScript([
      rules("s", policy: .overlap, service: true), rules("t", after: "s"),
    ])
    #expect(script { $0.start() } == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["."])
    #expect(script.change("s") == ["s|", "+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["retire s"])
    #expect(script.state("s") == .running)
    // Two processes are there, so that a third one waits.
    #expect(script.change("s") == [])
    #expect(script { $0.isGone("s") } == ["s*", "s|", "+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["retire s"])
    #expect(script { $0.isGone("s") } == ["s*", "+t"])
    #expect(script.end("t") == ["."])
  }

  @Test func `a change while the next process starts replaces that one`() {
    var script = MachineScript([rules("s", policy: .overlap, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isLate("s") == ["s-", "."])
    #expect(script.change("s") == ["+s"])
  }

  @Test func `a service whose next process fails goes on until the next change`() {
    var script = MachineScript([
      rules("s", policy: .overlap, service: true), rules("t", after: "s"),
    ])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script.end("t") == ["."])
    #expect(script.change("s") == ["s|", "+s"])
    start(&script, "s")
    #expect(script { $0.serviceEnded("s", .failed) } == ["t?s", "s=s", "."])
    #expect(script.state("s") == .failed)
    #expect(script.machine.isUp("s"))
    #expect(script { $0.serviceIsAtRest("s") } == [])
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["retire s"])
    #expect(script { $0.isGone("s") } == ["s*", "+t"])
  }

  @Test func `a service of which no process is left is started again after a pause`() {
    var script = MachineScript([rules("s", policy: .overlap, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    #expect(script { $0.serviceEnded("s", .failed) } == ["s=s", "."])
    #expect(script { $0.formerHasEnded("s", .failed) } == ["retire s", "s%"])
    #expect(script.backOffIsOver("s") == [])
    #expect(script { $0.isGone("s") } == ["&s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*"])
  }

  @Test func `a check that both processes pass is made when one is left`() {
    var rule = rules("s", policy: .overlap, service: true)
    rule.isReadyAlone = true
    var script = MachineScript([rule])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["retire s"])
    #expect(script { $0.isGone("s") } == ["s…"])
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    start(&script, "s")
    // The former process ends by itself.
    #expect(script { $0.formerHasEnded("s", .failed) } == ["retire s"])
    #expect(script { $0.isGone("s") } == [])
    #expect(script.isReady("s") == ["s…"])
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    #expect(script { $0.formerHasEnded("s", .failed) } == ["retire s"])
    #expect(script { $0.isGone("s") } == [])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
  }

  @Test func `a save in a burst stops a build in the next process, and not the one that serves`() {
    var script = MachineScript([rules("s", policy: .overlap, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    script.machine.setBuilding(["s"])
    #expect(script.hold("s") == [])
    #expect(script.release() == [])
    #expect(script.change("s") == ["s|", "+s"])
    start(&script, "s")
    script.machine.setBuilding(["s"])
    #expect(script.hold("s") == ["~s"])
    #expect(script.release() == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["retire s"])
    #expect(script { $0.isGone("s") } == ["s*", "."])
  }

  @Test
  func `a service that builds is stopped while the next start is delayed`() {
    var script = MachineScript([
      rules("a"), rules("build", after: "a"), rules("s", after: "a", service: true),
    ])
    _ = script { $0.start() }
    #expect(script.end("a") == ["+build", "?s"])
    #expect(script.judge("s") == ["+s"])
    start(&script, "s")
    _ = script.isReady("s")
    script.machine.setBuilding(["build", "s"])
    #expect(script.hold("a") == ["~build"])
    #expect(script.end("build", .cancelled) == [])
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a", .failed) == ["build?a", "s=a", "."])
    #expect(script.hold("s") == ["~s"])
    #expect(script.hold("s") == [])
    #expect(script.state("s") == .pending)
  }

  @Test func `a stop and the end stop both processes of a service`() {
    var script = MachineScript([rules("s", policy: .overlap, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    #expect(script { $0.stop() } == ["retire s", "~s", "."])
    #expect(script { $0.keyPressed() } == [])
    #expect(script { $0.isGone("s") } == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["s|", "+s"])
    #expect(script { $0.end() } == ["retire s", "end s"])
    #expect(script { $0.isGone("s") } == [])
    #expect(script { $0.isGone("s") } == ["finish"])
  }

  @Test func `a service that builds is stopped in the burst, unless a run needs it`() {
    var script = MachineScript([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    #expect(script.machine.runsOutdatedIfBuilding == ["s"])
    #expect(script.hold("s") == [])
    script.machine.setBuilding(["s"])
    #expect(script.hold("s") == ["~s"])
    #expect(script.hold("s") == [])
    #expect(script.state("s") == .pending)
    #expect(script.release() == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    script.machine.setBuilding(["s"])
    #expect(script.hold("s") == [])
  }

  @Test func `a service that ignores changes is restarted by a key only`() {
    var script = MachineScript([rules("s", policy: .ignore, service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["."])
    #expect(script { $0.keyPressed() } == ["+s"])
  }

  @Test func `what a service has ignored starts it again if it ends by itself`() {
    var script = MachineScript([rules("s", policy: .ignore, service: true, alive: false)])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script.change("s") == ["."])
    #expect(script { $0.serviceEnded("s", .succeeded) } == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "."])
    #expect(script { $0.serviceEnded("s", .succeeded) } == [])
  }

  @Test func `a service that is signaled keeps running, and its dependents run`() {
    var script = MachineScript([
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
    var script = MachineScript([rules("s", service: true, ready: false)])
    #expect(script { $0.start() } == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["."])
  }

  @Test func `a service that crashed is started again, and then the tasks that were skipped run`() {
    var script = MachineScript([
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
    var script = MachineScript([rules("s", service: true, ready: false, alive: false)])
    _ = script { $0.start() }
    #expect(script { $0.serviceStarted("s") } == ["."])
    #expect(script { $0.serviceEnded("s", result) } == [])
    #expect(script.state("s") == result)
    #expect(script { $0.serviceIsAtRest("s") } == [])
    #expect(script.change("s") == ["+s"])
  }

  @Test func `a change during the pause before a restart starts the service at once`() {
    var script = MachineScript([rules("s", service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.change("s") == ["+s"])
    #expect(script.backOffIsOver("s") == [])
  }

  @Test func `a service whose restart is given up waits for a change or a key`() {
    var script = MachineScript([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script { $0.serviceEnded("s", .failed) } == ["t?s", "."])
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.restartIsGivenUp("s") == [])
    #expect(script.restartIsGivenUp("s") == [])
    #expect(script.backOffIsOver("s") == [])
    #expect(script.state("s") == .failed)
    #expect(script.change("s") == ["+s"])
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
  }

  @Test func `a change before a crashed service is at rest starts it once`() {
    var script = MachineScript([rules("s", service: true)])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script.change("s") == ["+s"])
    #expect(script { $0.serviceIsAtRest("s") } == [])
  }

  @Test func `what is stopped during the pause before a restart stays so`() {
    var script = MachineScript([rules("s", service: true), rules("k", alive: true)])
    #expect(script { $0.start() } == ["+s", "+k"])
    start(&script, "s")
    _ = script { $0.serviceEnded("s", .failed) }
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.end("k", .failed) == [".", "k%"], "after the round, which may be the last")
    #expect(script { $0.stop() } == ["~s", "."])
    #expect(script.backOffIsOver("s") == [])
    #expect(script.backOffIsOver("k") == [])
    #expect(script.change("s", "k") == ["+s", "+k"])
  }

  @Test func `a command that is kept alive passes its result on, and starts again when it may`() {
    var script = MachineScript([rules("k", alive: true), rules("t", after: "k")], jobs: 1)
    #expect(script { $0.start() } == ["+k"])
    #expect(script.end("k") == ["+t", "k%"])
    #expect(script.backOffIsOver("k") == [], "its dependent runs")
    #expect(script.end("t") == ["&k"])
    #expect(script.end("k", .failed) == ["t?k", ".", "k%"])
    #expect(script { $0.pause() } == [])
    #expect(script.backOffIsOver("k") == [])
    #expect(script { $0.resume() } == ["&k"])
  }

  @Test func `the restart of a service does not wait for a dependent that runs`() {
    var script = MachineScript([rules("s", service: true), rules("t", after: "s")])
    _ = script { $0.start() }
    start(&script, "s")
    #expect(script.isReady("s") == ["s*", "+t"])
    #expect(script { $0.serviceEnded("s", .failed) } == [])
    #expect(script { $0.serviceIsAtRest("s") } == ["s%"])
    #expect(script.backOffIsOver("s") == ["&s"])
  }

  @Test func `a restart does not wait for a dependency that failed`() {
    var script = MachineScript([rules("a"), rules("s", after: "a", service: true)])
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

  @Test(arguments: [false, true])
  func `a crashed service is started as it was when the build before it fails`(isInHook: Bool) {
    var script = MachineScript([rules("b"), rules("s", after: "b", service: true, ready: false)])
    _ = script { $0.start() }
    _ = script.end("b")
    #expect(script.judge("s") == ["+s"])
    #expect(script { $0.serviceStarted("s") } == ["."])
    _ = script { $0.serviceEnded("s", .failed) }
    if !isInHook { #expect(script { $0.serviceIsAtRest("s") } == ["s%"]) }
    #expect(script.change("b", "s") == ["+b"])
    if isInHook {
      #expect(script { $0.serviceIsAtRest("s") } == [])
    } else {
      #expect(script.backOffIsOver("s") == [])
    }
    #expect(script.end("b", .failed) == ["s?b", "&s", "."])
    #expect(script { $0.serviceStarted("s") } == [])
    #expect(script.change("b", "s") == ["+b"])
  }

  @Test func `a service that becomes ready late runs the tasks that were skipped`() {
    var script = MachineScript([
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

  @Test func `a late service that ends without a failure is not ready by that`() {
    var script = MachineScript([
      rules("s", service: true, ready: true, alive: false), rules("t", after: "s"),
    ])
    _ = script { $0.start() }
    start(&script, "s")
    _ = script.isLate("s")
    #expect(!script { $0.serviceEnded("s", .succeeded) }.contains("+t"))
    #expect(script.state("t") == .skipped(because: "s"))
  }

  @Test func `a late service that is stopped or restarted does not become ready`() {
    var script = MachineScript([rules("s", service: true), rules("t", after: "s")])
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
    var script = MachineScript([rules("s", service: true), rules("t", after: "s")])
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
    var script = MachineScript([
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

  @Test func `a run is not stopped for a request that is skipped`() {
    var machine = MachineScript([
      rules("s", service: true, ready: false, alive: false), rules("a", after: "s"),
      rules("b", after: "a", policy: .restart),
    ])
    #expect(machine { $0.start() } == ["+s"])
    #expect(machine { $0.serviceStarted("s") } == ["+a"])
    #expect(machine.end("a") == ["+b"])
    #expect(machine { $0.serviceEnded("s", .failed) } == [])
    #expect(machine.change("a") == ["a?s"])
    #expect(machine.end("b") == ["."])
    #expect(machine.state("b") == .succeeded)
  }
}
