import FileObservation
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct OwnOutputsTests {
  private let disk: Disk
  private var outputs: OwnOutputs

  /// What is in the files; nothing can be said of those that are not named.
  private final class Disk: Sendable {
    private let contents = Mutex<[Path: UInt64]>([:])

    func digest(of path: Path) -> ContentDigest? {
      contents.withLock { $0[path] }.map { ContentDigest(high: 0, low: $0) }
    }

    func write(_ content: UInt64, to path: Path) {
      contents.withLock { $0[path] = content }
    }
  }

  init() {
    let disk = Disk()
    self.disk = disk
    outputs = OwnOutputs(digest: disk.digest)
  }

  private func during(_ paths: Path...) -> Trigger { during(contentsOf: paths) }

  private func during(contentsOf paths: [Path]) -> Trigger {
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

  @Test mutating func `an output that changes while nothing runs counts`() {
    disk.write(1, to: "out")
    _ = followUps(3, by: during("out"))
    #expect(outputs.sift(.change("out")) == .change("out"))
    #expect(outputs.sift(during("out")) == nil, "the command has written the same")
  }

  @Test mutating func `one that is gone then, or cannot be read, is none any more`() {
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

  /// The output is written in each of some runs; which of them are followed by another.
  private mutating func runs(writing contents: [UInt64]) -> [Bool] {
    contents.map { content in
      disk.write(content, to: "out")
      let rest = outputs.sift(during("out"))
      if let rest { _ = outputs.runBegins(rest, after: .milliseconds(100)) }
      return rest != nil
    }
  }

  /// Somebody saves the output while nothing runs.
  private mutating func save(_ content: UInt64) {
    disk.write(content, to: "out")
    if let rest = outputs.sift(.change("out")) {
      _ = outputs.runBegins(rest, after: .milliseconds(100))
    }
  }

  @Test mutating func `an output that holds the same as before starts nothing`() {
    #expect(runs(writing: [1, 1, 1, 1, 1]) == [true, true, true, false, false])
  }

  @Test mutating func `an output that holds something else each time starts nothing`() {
    #expect(runs(writing: [1, 2, 3, 4, 5]) == [true, true, true, false, false])
  }

  @Test mutating func `an output that depends on what others save starts nothing`() {
    _ = runs(writing: [1, 1, 1])
    _ = outputs.runBegins(.change("source"), after: .zero)
    #expect(runs(writing: [2]) == [false])
  }

  @Test mutating func `what is saved during a run to an output that others have saved counts`() {
    _ = runs(writing: [1, 1, 1])
    save(1)
    // It is left as it is, saved, put into shape by the command, and left as it is.
    #expect(runs(writing: [1, 2, 3, 3]) == [false, true, true, false])
    _ = outputs.runBegins(.change("source"), after: .zero)
    #expect(runs(writing: [4, 4]) == [true, false])
  }

  @Test mutating func `the same if it was saved before it was known to be an output`() {
    save(1)
    _ = runs(writing: [2, 2, 2])
    #expect(runs(writing: [3, 3]) == [true, false])
  }

  @Test mutating func `a log that others write as well comes to an end`() {
    _ = runs(writing: [1, 2, 3])
    for round in 1...3 {
      let content = UInt64(round) * 10
      save(content)
      let left = runs(writing: (1...4).map { content + $0 })
      #expect(left == [true, true, false, false])
    }
  }

  @Test mutating func `an output that is touched after it was written comes to an end`() {
    _ = runs(writing: [1, 1, 1])
    save(1)
    for round in 1...4 {
      // Twice told of in each run.
      disk.write(UInt64(round) * 10, to: "out")
      let first = outputs.sift(during("out"))
      let second = outputs.sift(during("out"))
      #expect((first != nil) == (round <= 2))
      #expect(second == nil)
      _ = outputs.runBegins(first ?? .change("source"), after: .zero)
    }
  }

  @Test mutating func `of what differs from run to run, that is proof which does not`() {
    let found = [["a", "b"], ["a", "c"], ["a", "b"], ["b", "c"]].map {
      outputs.runBegins(during(contentsOf: $0.map { Path($0) }), after: .zero)
    }
    #expect(found == [[], [], ["a"], []])
  }

  @Test mutating func `of a great many outputs that change at once none is read`() {
    let many = during(contentsOf: (0..<65).map { Path("out\($0)") })
    _ = followUps(3, by: many)
    disk.write(1, to: "out1")
    #expect(outputs.sift(.change("out1")) == .change("out1"))
    disk.write(2, to: "out1")
    #expect(outputs.sift(many) == nil)
    #expect(outputs.sift(during("out1")) == during("out1"))
    #expect(outputs.sift(many) == nil)
  }

  @Test mutating func `what a follow-up carries is not among the proof`() {
    let carrying = during("out").carrying(.change("source"))
    let found = followUps(3, by: carrying)
    #expect(found == [[], [], ["out"]])
    #expect(outputs.paths == ["out"])
  }
}
