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
    let contents = Mutex<[Path: UInt64]>([:])

    func digest(of path: Path) -> ContentDigest? {
      contents.withLock { $0[path] }.map { ContentDigest(high: 0, low: $0) }
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

  /// The command writes its output in each run; what follows from that.
  private mutating func runs(
    _ count: Int, writing content: (Int) -> UInt64
  ) -> [Trigger?] {
    (0..<count).map { number in
      disk.contents.withLock { $0["out"] = content(number) }
      let rest = outputs.sift(during("out"))
      if let rest { _ = outputs.runBegins(rest, after: .milliseconds(100)) }
      return rest
    }
  }

  @Test mutating func `an output that holds the same as before starts nothing`() {
    let left = runs(6) { _ in 1 }
    #expect(left.map { $0 != nil } == [true, true, true, false, false, false])
  }

  @Test mutating func `an output that holds something else each time starts nothing`() {
    let left = runs(6) { UInt64($0) }
    #expect(left.map { $0 != nil } == [true, true, true, false, false, false])
  }

  @Test mutating func `what somebody else writes to an output during a run counts`() {
    _ = runs(4) { _ in 1 }
    // It is saved, put into shape by the command, and left as it is.
    let left = runs(4) { [2, 3, 3, 3][$0] }
    #expect(left.map { $0 != nil } == [true, true, false, false])
    let again = runs(2) { _ in 4 }
    #expect(again.map { $0 != nil } == [true, false])
  }

  @Test mutating func `a command that begins to write something else comes to an end`() {
    _ = runs(4) { _ in 1 }
    let left = runs(6) { UInt64($0 + 2) }
    #expect(left.map { $0 != nil } == [true, true, false, false, false, false])
  }

  @Test mutating func `of a great many outputs none is read`() {
    let many = during(contentsOf: (0..<65).map { Path("out\($0)") })
    _ = followUps(3, by: many)
    disk.contents.withLock { $0["out1"] = 1 }
    #expect(outputs.sift(many) == nil)
  }

  @Test mutating func `what a follow-up carries is not among the proof`() {
    let carrying = during("out").carrying(.change("source"))
    let found = followUps(3, by: carrying)
    #expect(found == [[], [], ["out"]])
    #expect(outputs.paths == ["out"])
  }
}
