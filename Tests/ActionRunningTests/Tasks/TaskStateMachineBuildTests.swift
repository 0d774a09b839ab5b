import FileObservation
import Testing

@testable import ActionRunning

/// Runs in which a program works that compares the times of files, so that a save stops them.
struct TaskStateMachineBuildTests {
  @Test(arguments: [nil, BusyPolicy.queue, .ignore])
  func `a change stops a run that builds, unless it is to be ignored`(_ policy: BusyPolicy?) {
    var script = MachineScript([rules("a", policy: policy), rules("b", after: "a")])
    _ = script { $0.start() }
    #expect(script.machine.possibleBuilds == ["a"])
    #expect(!script.machine.isBuilding("a"))
    script.machine.setBuilding(["a"])
    #expect(script.machine.isBuilding("a") == (policy != .ignore))
    #expect(script.change("a") == (policy != .ignore ? ["~a"] : []))
    if policy != .ignore {
      #expect(script.end("a", .cancelled) == ["+a"])
      // The next run has not begun to build.
      #expect(script.change("a") == [])
      #expect(script.end("a") == ["+a"])
    }
  }

  @Test func `a run that is stopped in a burst begins anew when the burst has ended`() {
    var script = MachineScript([rules("a"), rules("b", after: "a")])
    _ = script { $0.start() }
    #expect(script.hold("a") == [])
    script.machine.setBuilding(["a"])
    #expect(script.hold("a") == ["~a"])
    #expect(script.hold("a") == [])
    #expect(script.end("a", .cancelled) == [])
    #expect(script.state("a") == .pending)
    #expect(script.release() == ["+a"])
    #expect(script.release() == [])
    // Neither in a pause, nor for a key.
    script.machine.setBuilding(["a"])
    _ = script { $0.pause() }
    #expect(script.hold("a") == [])
    _ = script { $0.resume() }
    #expect(script.hold("a") == ["~a"])
    #expect(script { $0.keyPressed() } == [])
    #expect(script.end("a", .cancelled) == ["+a"])
  }

  @Test func `a run that is stopped while the next one is delayed begins when that has ended`() {
    var script = MachineScript([rules("a"), rules("b", after: "a"), rules("c")])
    _ = script { $0.start() }
    script.machine.setBuilding(["a", "c"])
    #expect(script.hold("a") == ["~a"])
    #expect(script.end("a", .cancelled) == [])
    #expect(script.end("c") == [])
    #expect(script.state("a") == .pending && script.state("b") == .pending)
    // It is requested when the delay has ended.
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a") == ["+b"])
    // Also because of what a build depends on; and each counts as one in a row.
    for count in 1...11 {
      script.machine.setBuilding(["b"])
      let isStopped = count <= 10
      #expect(script.hold("a") == (isStopped ? ["~b"] : []))
      #expect(script.end("b", isStopped ? .cancelled : .succeeded) == (isStopped ? [] : ["."]))
      #expect(script.change("a") == ["+a"])
      #expect(script.end("a") == ["+b"])
    }
    script.machine.setBuilding(["b"])
    #expect(script.hold("a") == ["~b"])
    #expect(script.end("b", .cancelled) == [])
    #expect(script.release() == ["+a"])
  }

  @Test func `a manual task that builds, and is stopped for its dependency, runs again`() {
    var rule = rules("deploy", after: "gen")
    rule.isManual = true
    var script = MachineScript([rules("gen"), rule])
    #expect(script { $0.start() } == ["+gen"])
    #expect(script.end("gen") == ["+deploy"])
    script.machine.setBuilding(["deploy"])
    #expect(script.hold("gen") == ["~deploy"])
    #expect(script.end("deploy", .cancelled) == [])
    #expect(script.release() == ["+gen"])
    #expect(script.end("gen") == ["+deploy"])
  }

  @Test func `a burst is cut short only for runs that may be stopped, and their files`() {
    var script = MachineScript([
      rules("a"), rules("b", after: "a"), rules("signal", policy: .signal(.hangup)),
    ])
    _ = script { $0.start() }
    #expect(script.machine.runsOutdatedIfBuilding == ["a"])
    #expect(script.machine.runsOutdatedIfBuilding(whenChanged: ["b", "signal"]) == [])
    #expect(script.machine.runsOutdatedIfBuilding(whenChanged: ["a"]) == ["a"])
    _ = script { $0.pause() }
    #expect(script.machine.runsOutdatedIfBuilding == [])
    _ = script { $0.resume() }
    _ = script.end("a")
    #expect(script.machine.runsOutdatedIfBuilding(whenChanged: ["a"]) == ["b"])
    _ = script.end("b")
    for count in 0...10 {
      _ = script { $0.keyPressed(["a"]) }
      script.machine.setBuilding(["a"])
      _ = script.change("a")
      _ = script.end("a", .cancelled)
      #expect(script.machine.runsOutdatedIfBuilding == (count < 9 ? ["a"] : []))
    }
  }

  @Test func `a test that builds is stopped by a change of what it depends on`() {
    var script = MachineScript([rules("build"), rules("test", after: "build")])
    _ = script { $0.start() }
    #expect(script.end("build") == ["+test"])
    #expect(!script.machine.isBuilding("build"))
    script.machine.setBuilding(["test"])
    #expect(script.machine.isBuilding("build"))
    #expect(script.change("build") == ["~test"])
    #expect(script.end("test", .cancelled) == ["+build"])
  }

  @Test func `a key does not stop a run because a build works in it`() {
    var script = MachineScript([rules("a")])
    #expect(script { $0.start() } == ["+a"])
    script.machine.setBuilding(["a"])
    #expect(script { $0.keyPressed() } == [])
    #expect(script.change("a") == ["~a"])
    // Nor does a task above it.
    script = MachineScript([rules("a"), rules("b", after: "a")])
    #expect(script { $0.start() } == ["+a"])
    #expect(script.end("a") == ["+b"])
    script.machine.setBuilding(["b"])
    #expect(script { $0.keyPressed() } == [])
    #expect(script.end("b") == ["+a"])
    #expect(script.end("a") == ["+b"])
    script.machine.setBuilding(["b"])
    #expect(script.change("a") == ["~b"])
  }

  @Test func `a build that a save has stopped waits for the end of the burst in another graph too`()
  {
    var script = MachineScript([rules("a")])
    _ = script { $0.start() }
    script.machine.setBuilding(["a"])
    #expect(script.hold("a") == ["~a"])
    #expect(script { $0.replace([rules("a"), rules("b")], jobs: 9, keeping: ["a"]) } == ["+b"])
    #expect(script.end("a", .cancelled) == [])
    #expect(script.release() == ["+a"])
  }
}
