import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

struct OwnOutputsTests {
  private var outputs = OwnOutputs()

  private func during(_ paths: Path...) -> Trigger {
    var trigger = Trigger(.change, changes: paths.map { .of($0, .modified) })
    trigger.cameDuringRun = true
    return trigger
  }

  /// Follow-ups in a row, each by these paths; what each of them brought to light.
  private mutating func followUps(
    _ count: Int, by trigger: Trigger, after duration: Duration = .milliseconds(100)
  ) -> [[Path]] {
    (0..<count).map { _ in outputs.runBegins(trigger, after: duration) }
  }

  @Test mutating func `three follow-ups in a row by the same paths are proof`() {
    let found = followUps(4, by: during("out"))
    #expect(found == [[], [], ["out"], []])
    #expect(outputs.paths == ["out"])
  }

  @Test mutating func `where runs are long, it takes five`() {
    let found = followUps(5, by: during("out"), after: .seconds(2))
    #expect(found == [[], [], [], [], ["out"]])
  }

  @Test mutating func `from the second on, a follow-up would be suspect`() {
    #expect(outputs.suspects.isEmpty)
    _ = followUps(1, by: during("out"))
    #expect(outputs.suspects == ["out"])
    _ = outputs.runBegins(.change("out"), after: .zero)
    #expect(outputs.suspects.isEmpty)
  }

  @Test mutating func `a change of other paths in between begins the count anew`() {
    _ = followUps(2, by: during("out"))
    _ = outputs.runBegins(during("other"), after: .zero)
    let found = followUps(2, by: during("out"))
    #expect(found == [[], []])
  }

  @Test mutating func `a change while nothing runs begins the count anew`() {
    _ = followUps(2, by: during("out"))
    _ = outputs.runBegins(.change("out"), after: .zero)
    let found = followUps(2, by: during("out"))
    #expect(found == [[], []])
  }

  @Test mutating func `an output that changes during a run starts nothing`() {
    _ = followUps(3, by: during("out"))
    #expect(outputs.sift(during("out")) == nil)
    let rest = outputs.sift(during("out", "source"))
    #expect(rest?.changes.map(\.path) == ["source"])
  }

  @Test mutating func `an output that changes while nothing runs counts, and is none any more`() {
    _ = followUps(3, by: during("out"))
    #expect(outputs.sift(.change("out")) == .change("out"))
    #expect(outputs.sift(during("out")) == during("out"))
  }

  @Test mutating func `it is told of once`() {
    _ = followUps(3, by: during("out"))
    _ = outputs.sift(.change("out"))
    let again = followUps(3, by: during("out"))
    #expect(again == [[], [], []])
    #expect(outputs.paths == ["out"])
  }

  @Test mutating func `a trigger without changes is never sifted away`() {
    _ = followUps(3, by: during("out"))
    #expect(outputs.sift(Trigger(.start)) == Trigger(.start))
  }

  @Test mutating func `five restarts in ten seconds by the same paths are reported once`() {
    let found = (0..<8).map { outputs.restarted(by: .change("out"), at: .milliseconds($0 * 1000)) }
    #expect(found == [[], [], [], [], ["out"], [], [], []])
  }

  @Test mutating func `restarts that are rare or by different paths are not reported`() {
    let rare = (0..<8).map { outputs.restarted(by: .change("out"), at: .milliseconds($0 * 3000)) }
    #expect(rare.joined().isEmpty)
    let various = (0..<8).map { number in
      outputs.restarted(by: .change(Path("f\(number % 2)")), at: .milliseconds(30_000 + number))
    }
    #expect(various.joined().isEmpty)
  }

  @Test mutating func `what a follow-up carries is not among the proof`() {
    let carrying = during("out").carrying(.change("source"))
    let found = followUps(3, by: carrying)
    #expect(found == [[], [], ["out"]])
    #expect(outputs.paths == ["out"])
  }
}
