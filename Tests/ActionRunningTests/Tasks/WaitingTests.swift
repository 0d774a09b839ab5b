import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

/// What waits, and since when.
struct WaitingTests {
  private var state = TaskRunner.State(
    graph: TaskGraph(valid: [], jobs: 1),
    machine: TaskStateMachine([rules("a"), rules("x"), rules("b", after: "a")], jobs: 1),
    reading: .always)

  /// Takes a step, and returns what waits after it, as the runner does.
  private mutating func waiting(
    _ seconds: Int, _ step: (inout TaskRunner.State) -> Void
  ) -> [TaskRunner.Waiting] {
    step(&state)
    state.waiting = state.listWaiting(at: Instant(offset: .seconds(seconds)))
    return state.waiting
  }

  @Test mutating func `a wait begins once, whatever it is for and whatever else changes`() {
    var list = waiting(1) { _ = $0.machine.start() }
    #expect(list.map(\.name) == ["x", "b"])
    #expect(list.map(\.since.offset) == [.seconds(1), .seconds(1)])
    list = waiting(2) { state in
      state.owed.add(ChangeBatch(number: 1, changes: [.of("f", .modified)]), to: ["x"])
      _ = state.machine.changed(["a"])
    }
    #expect(list.map(\.name) == ["a", "x", "b"])
    #expect(list.map(\.since.offset) == [.seconds(2), .seconds(1), .seconds(1)])
    #expect(list[1].trigger.changes.map(\.path) == ["f"])
    list = waiting(3) { _ = $0.machine.pause() }
    #expect(list.map(\.cause) == [.pause, .pause, .pause])
    #expect(list.map(\.since.offset) == [.seconds(2), .seconds(1), .seconds(1)])
    list = waiting(4) { _ = $0.machine.stop() }
    #expect(list == [])
  }

  @Test mutating func `what waits for the judgment of changes waits for none of its dependencies`()
  {
    state.machine = TaskStateMachine([rules("a"), rules("s", after: "a", service: true)], jobs: 1)
    _ = waiting(1) { _ = $0.machine.start() }
    let list = waiting(2) { _ = $0.machine.ended("a", .succeeded) }
    #expect(list.map(\.name) == ["s"])
    #expect(list.map(\.cause) == [.changes])
  }

  @Test(arguments: [1, 2])
  mutating func `what waits for the terminal waits for nothing else`(jobs: Int) {
    state.machine = TaskStateMachine([rules("a"), rules("x")], jobs: jobs)
    _ = waiting(1) { _ = $0.machine.start() }
    let list = waiting(2) { _ = $0.machine.awaitsTerminal("a", .start) }
    #expect(list.map(\.name) == ["a"])
    #expect(list.map(\.cause) == [.terminal])
  }

  @Test mutating func `the request of a key is a wait of its own`() {
    _ = waiting(1) { state in
      _ = state.machine.start()
      _ = state.machine.changed(["a"])
    }
    let list = waiting(2) { _ = $0.machine.keyPressed(["a"]) }
    #expect(list.first?.trigger == RunTrigger(.key))
    #expect(list.first?.since.offset == .seconds(2))
  }

  @Test func `the end of a delay is awaited from its beginning on`() {
    let change = RunTrigger(.change)
    let delayed = TaskRunner.Waiting("a", change, for: .delay)
    #expect(delayed.isSame(as: TaskRunner.Waiting("a", change, for: .delay)))
    #expect(!delayed.isSame(as: TaskRunner.Waiting("a", change, for: .runs(["a"]))))
    #expect(!delayed.isSame(as: TaskRunner.Waiting("b", change, for: .delay)))
  }
}
