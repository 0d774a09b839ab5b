import Testing

@testable import ActionRunning

/// Tasks that need not run at the start.
struct FreshMachineTests {
  private func script(_ chain: String...) -> MachineScript {
    var before: [String] = []
    return MachineScript(
      chain.map { name in
        var rules = TaskStateMachine.Rules(name, dependencies: before)
        (rules.mayBeFresh, rules.watches) = (name.first != "-", true)
        before = [name]
        return rules
      })
  }

  @Test func `a fresh task is not run, and its dependent is examined at once`() {
    var script = script("a", "b")
    #expect(script { $0.start() } == ["a^"])
    #expect(script.machine.state(of: "b") == .pending)
    #expect(script.examine("a", isFresh: true) == ["a#", "b^"])
    #expect(script.machine.state(of: "a") == .succeeded)
    #expect(script.examine("b", isFresh: true) == ["b#", "."])
    #expect(script.examine("b", isFresh: true) == [])
    // A change runs both, as after any success.
    #expect(script.change("a") == ["+a"])
    #expect(script.end("a") == ["?b"])
    #expect(script.judge("b") == ["+b"])
  }

  @Test func `a task runs if a dependency has run`() {
    var script = script("a", "b")
    #expect(script { $0.start() } == ["a^"])
    #expect(script.examine("a", isFresh: false) == ["+a"])
    #expect(script.end("a") == ["?b"])
    #expect(script.judge("b") == ["b^^"])
    #expect(script.examine("b", isFresh: false) == ["+b"])
    #expect(script.end("b") == ["."])
  }

  @Test func `a task that cannot be fresh runs at once after a fresh one`() {
    var script = script("a", "-b")
    #expect(script { $0.start() } == ["a^"])
    #expect(script.examine("a", isFresh: true) == ["a#", "+-b"])
  }

  @Test func `a change while it is examined starts it, and the answer does not count`() {
    var script = script("a")
    #expect(script { $0.start() } == ["a^"])
    #expect(script.change("a") == ["+a"])
    #expect(script.examine("a", isFresh: true) == [])
    #expect(script.machine.state(of: "a") == .running)
  }

  @Test func `what was stopped while it is examined is not fresh`() {
    var script = script("a")
    #expect(script { $0.start() } == ["a^"])
    #expect(script { $0.stop() } == [])
    #expect(script.examine("a", isFresh: true) == [])
    #expect(script.machine.state(of: "a") == .cancelled)
    #expect(script { $0.keyPressed() } == ["+a"])
  }

  @Test func `a key runs what is fresh`() {
    var script = script("a")
    _ = script { $0.start() }
    _ = script.examine("a", isFresh: true)
    #expect(script { $0.keyPressed() } == ["+a"])
  }
}
