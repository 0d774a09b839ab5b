import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

@Suite struct OwnOutputsTests {
  private var outputs = OwnOutputs()

  private func trigger(_ paths: Path..., duringRun: Bool = true) -> Trigger {
    var trigger = Trigger(
      .change, changes: paths.map { .init(path: $0, kind: .modified, type: .file) })
    trigger.cameDuringRun = duringRun
    return trigger
  }

  /// One run by this trigger, and what is found by it.
  private mutating func run(_ trigger: Trigger, after seconds: Int = 0) -> [Path] {
    outputs.runBegins(trigger, after: .seconds(seconds))
  }

  @Test mutating func `three follow-ups in a row by the same path are proof`() {
    #expect(run(trigger("out")) == [])
    #expect(outputs.isSuspect(trigger("out")))
    #expect(run(trigger("out")) == [])
    #expect(run(trigger("out")) == ["out"])
    #expect(outputs.sift(trigger("out")) == nil)
  }

  @Test mutating func `what else changes during a run is not held back`() {
    for _ in 1...3 { _ = run(trigger("out")) }
    #expect(outputs.sift(trigger("out", "source"))?.changes.map(\.path) == ["source"])
  }

  @Test mutating func `a change while nothing runs counts, and ends the suspicion`() {
    for _ in 1...3 { _ = run(trigger("out")) }
    #expect(outputs.sift(trigger("out", duringRun: false)) != nil)
    #expect(outputs.sift(trigger("out")) != nil)
  }

  @Test mutating func `a run for another reason in between is no proof`() {
    _ = run(trigger("out"))
    _ = run(trigger("out"))
    _ = run(trigger("source", duringRun: false))
    #expect(run(trigger("out")) == [])
    #expect(run(trigger("out")) == [])
  }

  @Test mutating func `follow-ups by different paths are no proof`() {
    for path: Path in ["a", "b", "a", "b", "a", "b"] { #expect(run(trigger(path)) == []) }
  }

  @Test mutating func `where runs are long, it takes five`() {
    for _ in 1...4 { #expect(run(trigger("out"), after: 10) == []) }
    #expect(run(trigger("out"), after: 10) == ["out"])
  }

  @Test mutating func `they are told of once`() {
    for _ in 1...3 { _ = run(trigger("out")) }
    _ = outputs.sift(trigger("out", duringRun: false))
    for _ in 1...3 { #expect(run(trigger("out")) == []) }
    #expect(outputs.sift(trigger("out")) == nil)
  }

  @Test mutating func `five restarts within ten seconds are told of once`() {
    let told = (1...8).map { second in
      outputs.restarted(by: trigger("out"), at: Instant(offset: .seconds(second)))
    }
    #expect(told == [[], [], [], [], ["out"], [], [], []])
  }

  @Test mutating func `slow restarts, or by different paths, are not told of`() {
    for second in 1...20 {
      let path = Path("f\(second % 2)")
      let now = Instant(offset: .seconds(second))
      #expect(outputs.restarted(by: trigger(path), at: now) == [])
    }
    for round in 1...10 {
      let now = Instant(offset: .seconds(100 + 4 * round))
      #expect(outputs.restarted(by: trigger("out"), at: now) == [])
    }
  }
}
