import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

/// The consequences of a change during a run, for policies that wait for its end.
struct ChangeJudgeTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/log": "0"]

  // MARK: Contents

  @Test func `a command that writes the same bytes again rests after one follow-up`() {
    var bench = ChangeJudgeBench(["/p/o": "0"])
    #expect(bench.rounds(9) { _ in [("/p/o", "same")] } == [.now, .none])
  }

  @Test func `bytes that return in every second run are owed a run each time`() {
    var bench = ChangeJudgeBench(["/p/o": "0"])
    #expect(bench.rounds(13) { [("/p/o", "\($0 % 2)")] } == FollowUp.law(13))
  }

  @Test func `a round in which nothing changes leads to nothing`() {
    var bench = ChangeJudgeBench()
    #expect(bench.round() == .none)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that the round before left alone still holds what is known of it`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    #expect(bench.round([("/p/a", "b")]) == .now)
    #expect(bench.round() == .none)
    // Written again with the content of two rounds ago, which has not changed since.
    #expect(bench.round([("/p/a", "b")]) == .none)
  }

  @Test func `a save in the run is reported although the output settles in it`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/o": "0"])
    #expect(bench.round([("/p/o", "1")]) == .now)
    #expect(bench.round([("/p/o", "1"), ("/p/a", "b")]) == .now)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a path that is written again with the same content has no longer row`() {
    var bench = ChangeJudgeBench(["/p/o": "0"])
    // After that it is an output.
    for count in 1...2 {
      #expect(bench.round([("/p/o", "#\(count)")]) == .now)
      #expect(bench.round([("/p/o", "#\(count)")]) == .none)
      #expect(bench.judge.repetitions == ["/p/o": count])
    }
  }

  @Test func `what a person saves and takes back in a run is owed another run`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    bench.write("/p/a", "b", .idle)
    #expect(bench.round([("/p/a", "c")]) == .now)
    bench.begin()
    bench.write("/p/a", "d")
    bench.write("/p/a", "c")
    bench.end()
    #expect(bench.followUp == .now)
  }

  @Test func `a save of a path that the command writes, too, is owed a run`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    #expect(bench.rounds(2) { _ in [("/p/a", "formatted")] } == [.now, .none])
    // It was formatted and then saved again.
    bench.begin()
    bench.write("/p/a", "formatted")
    bench.write("/p/a", "saved")
    bench.end()
    #expect(bench.followUp == .now)
  }

  /// A person may have saved them, and the result is one of what was there meanwhile. A run that does so itself does it
  /// each time.
  @Test func `bytes that are taken back within a run are owed one, but not in each run`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    _ = bench.round([("/p/a", "a")])
    func round() -> ChangeJudgeBench.FollowUp {
      bench.begin()
      bench.write("/p/a", "b")
      bench.write("/p/a", "a")
      bench.end()
      return bench.followUp
    }
    #expect(round() == .none)
    _ = bench.round([])
    #expect(round() == .now)
    #expect(round() == .none)
  }

  @Test func `a change of the mode is a change`() {
    var bench = ChangeJudgeBench(["/p/o": "0"])
    _ = bench.round([("/p/o", "1")])
    bench.begin()
    bench.files["/p/o"] = .text("1", attributes: 0o755)
    bench.report([.of("/p/o", .metadata)])
    bench.end()
    #expect(bench.followUp != .none)
  }

  @Test func `absence is a content`() {
    var bench = ChangeJudgeBench(["/p/d/o": "0"])
    #expect(bench.round([("/p/d/o", nil)]) == .now)
    bench.begin()
    bench.write("/p/d/o", "1")
    bench.write("/p/d/o", nil)
    bench.end()
    #expect(bench.followUp == .none)
  }

  @Test func `a directory that is moved as a whole is compared by its stamp`() {
    var bench = ChangeJudgeBench()
    let move = ChangeBatch.Change(
      path: "/p/new", kind: .renamed, type: .directory, from: "/p/old")
    bench.begin()
    bench.report([move])
    let asked = bench.judge.pathsToRead().filter { $0.path == "/p/new" }
    #expect(asked.map(\.isMovedAsWhole) == [true])
  }

  @Test func `a renamed file is judged together with its former path`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    let move = ChangeBatch.Change.of("/p/b", .renamed, from: "/p/a")
    bench.begin()
    (bench.files["/p/b"], bench.files["/p/a"]) = (bench.files["/p/a"], nil)
    bench.report([move])
    bench.end()
    #expect(bench.run == ["/p/a", "/p/b"])
    bench.begin()
    // Only the former path has different content.
    bench.files["/p/a"] = .text("other")
    bench.report([.of("/p/b", .renamed, from: "/p/a")])
    bench.end()
    #expect(bench.settled == ["/p/b"])
    #expect(bench.run == ["/p/a"])
  }

  // MARK: Consecutive follow-ups

  @Test func `a file that differs each time is delayed by the law of repetitions`() {
    var bench = ChangeJudgeBench()
    #expect(bench.rounds(16) { [("/p/log", "\($0)")] } == FollowUp.law(16))
  }

  @Test func `that runs are known to write a file makes no difference`() {
    var bench = ChangeJudgeBench(["/p/log": "0"])
    bench.evidence["/p/log"] = .run
    #expect(bench.rounds(13) { [("/p/log", "\($0)")] } == FollowUp.law(13))
  }

  @Test func `what others have proved to change is not delayed`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    bench.evidence["/p/a"] = .others
    for count in 0..<10 {
      bench.begin()
      bench.now += .milliseconds(100 * (count % 3))
      bench.write("/p/a", "#\(count)")
      bench.end()
      #expect(bench.followUp == .now)
    }
    #expect(bench.judge.editedPaths == ["/p/a"])
  }

  @Test func `a run that ends without the change ends the row`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/b": "b"])
    #expect(bench.rounds(5) { [("/p/a", "#\($0)")] } == FollowUp.law(5))
    #expect(bench.round() == .none)
    #expect(bench.rounds(5) { [("/p/a", "##\($0)")] } == FollowUp.law(5))
  }

  @Test func `a path with the same content again keeps its row`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    _ = bench.rounds(3) { [("/p/a", "#\(min($0, 1))")] }
    #expect(bench.judge.repetitions["/p/a"] == 2)
    let again = bench.rounds(10) { [("/p/a", "##\($0)")] }
    #expect(again.prefix(2) == [.now, .after(Suspicion.Rules.test.least)])
    #expect(again.last == .after(Suspicion.Rules.noticed))
  }

  @Test func `a change counts for each path of a run`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/c": "c"])
    _ = bench.rounds(4) { [("/p/a", "#\($0)")] }
    bench.waitForDelay()
    #expect(bench.judge.repetitions == ["/p/a": 4])
    // Immediate because of the new path.
    #expect(bench.round([("/p/a", "#"), ("/p/c", "#")]) == .now)
    #expect(bench.judge.repetitions == ["/p/a": 7, "/p/c": 1])
  }

  @Test func `the shortest delay decides, and the follow-up receives all changes`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    let first = bench.rounds(4) { [("/p/log", "#\($0)")] }
    #expect(first.last == .after(Suspicion.Rules.test.least))
    bench.waitForDelay()
    #expect(
      bench.round([("/p/log", "other"), ("/p/a", "saved")]) == .now)
    #expect(bench.run == ["/p/log", "/p/a"])
  }

  // MARK: Changes at rest

  @Test func `a change while nothing runs begins a round at once, whatever was delayed`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    let first = bench.rounds(14) { [("/p/a", "#\($0)")] }
    #expect(first.last == .after(Suspicion.Rules.noticed))
    bench.now += .seconds(2)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a change while nothing runs ends the row of its path, and of no other`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/b": "b"])
    _ = bench.rounds(7) { [("/p/a", "#\($0)"), ("/p/b", "#\($0)")] }
    #expect(bench.judge.repetitions == ["/p/a": 9, "/p/b": 9])
    bench.now += .seconds(2)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.judge.repetitions == ["/p/b": 9])
    #expect(bench.round([("/p/a", "##")]) == .now)
  }

  @Test func `a change while nothing runs makes the content unknown`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    #expect(bench.rounds(2) { _ in [("/p/a", "b")] } == [.now, .none])
    bench.now += .seconds(2)
    bench.write("/p/a", "c", .idle)
    // Back to its content at the end of the previous round, with which no round has begun since.
    #expect(bench.round([("/p/a", "b")]) == .now)
  }

  @Test func `an edit while nothing runs ends the row of whatever paths`() {
    var bench = ChangeJudgeBench()
    _ = bench.rounds(5) { [("/p/a", "#\($0)")] }
    #expect(bench.judge.common.level() > 0)
    bench.now += .seconds(2)
    bench.write("/p/b", "b", .idle)
    #expect(bench.judge.common.level() == 0)
  }

  // MARK: Follow-ups for different paths

  @Test func `a ring of paths that change in turn is delayed by the same law`() {
    var bench = ChangeJudgeBench()
    for name in 0..<8 { bench.files[Path("/p/\(name)")] = .text("0") }
    let followUps = bench.rounds(18) { [(Path("/p/\($0 % 8)"), "#\($0)")] }
    #expect(followUps == FollowUp.law(18))
  }

  // MARK: Announcements

  @Test func `the first long pause is announced for a path, and no other`() {
    var bench = ChangeJudgeBench(Self.files)
    var announced: [[FeedbackLoop]] = []
    for count in 0..<16 {
      bench.waitForDelay()
      _ = bench.round([("/p/log", "#\(count)")])
      announced.append(bench.loops)
    }
    let loop = FeedbackLoop(path: "/p/log", entries: [], delay: Suspicion.Rules.noticed)
    #expect(announced == Array(repeating: [], count: 7) + [[loop], [], [], [], [], [], [], [], []])
  }

  @Test func `a path that begins again after its row has ended is announced again`() {
    var bench = ChangeJudgeBench(Self.files)
    var announced = 0
    for count in 0..<24 {
      bench.waitForDelay()
      // The program is mended, and broken again.
      _ = bench.round(count == 12 ? [] : [("/p/log", "#\(count)")])
      announced += bench.loops.count
    }
    #expect(announced == 2)
  }

  @Test func `a save soon after a round does not wait for what its runs change`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/log": "0"])
    for count in 0..<30 { _ = bench.round([("/p/log", "#\(count)")]) }
    // It was saved in one run, and rewritten by the next one.
    for count in 0..<2 { _ = bench.round([("/p/a", "saved"), ("/p/log", "##\(count)")]) }
    #expect(bench.followUp != .now)
    bench.now += .milliseconds(200)
    bench.write("/p/a", "again", .idle)
    #expect(bench.followUp == .now)
  }

  @Test func `a new file of a kind that is edited does not wait for those that runs make`() {
    var bench = ChangeJudgeBench(["/p/a.swift": "a"])
    bench.editAtRest("/p/a.swift", "edited")
    for count in 0..<30 { _ = bench.round([(Path("/p/log.\(count)"), "log")]) }
    #expect(bench.followUp != .now)
    _ = bench.round([("/p/b.swift", "new")])
    #expect(bench.followUp == .now)
  }

  @Test func `of several paths the one with the most repetitions is announced`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/log", "#")])
    for count in 0..<9 {
      #expect(bench.loops.isEmpty)
      _ = bench.round([("/p/a", "\(count)"), ("/p/log", "\(count)")])
    }
    #expect(bench.loops.map(\.path) == ["/p/log"])
  }

  @Test func `a directory is announced with two of its entries`() {
    var bench = ChangeJudgeBench()
    for count in 0..<8 { _ = bench.round([(Path("/p/out/\(count)"), "#")]) }
    let loop = FeedbackLoop(
      path: "/p/out", entries: ["/p/out/7", "/p/out/0"], delay: Suspicion.Rules.noticed)
    #expect(bench.loops == [loop])
  }

  @Test func `what changes at any time is announced after ten starts, and once`() {
    var bench = ChangeJudgeBench(["/p/log": "0"])
    bench.evidence["/p/log"] = .run
    var generator = SeededGenerator(seed: 5)
    var announced: [Int: FeedbackLoop] = [:]
    for number in 1...60 {
      bench.waitForDelay()
      bench.begin()
      bench.end(after: .milliseconds(100))
      bench.now += .milliseconds(Int.random(in: 500...2300, using: &generator))
      // A server of other tasks writes it.
      bench.write("/p/log", "#\(number)", .leftovers)
      announced[number] = bench.loops.first
    }
    #expect(announced.keys.sorted() == [11])
    #expect(announced[11]?.path == "/p/log" && announced[11]?.isFrequent == true)
  }

  @Test func `an announcement tells whether others change the path as well`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    bench.editAtRest("/p/a", "saved")
    for count in 0..<40 where bench.loops.isEmpty { _ = bench.round([("/p/a", "#\(count)")]) }
    #expect(bench.loops.map(\.isEdited) == [true])
  }

  // MARK: Explanations

  @Test func `a judgment says what was decided, who wrote the path, and when it runs`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.evidence = ["/p/a": .others, "/p/log": .run]
    _ = bench.rounds(2) { [("/p/log", "#\($0)"), ("/p/a", "#\($0)"), ("/p/b", "#\($0)")] }
    #expect(bench.judgments.map(\.path) == ["/p/log", "/p/a", "/p/b"])
    #expect(bench.judgments.allSatisfy { $0.decision == .run })
    #expect(bench.judgments.map(\.writer) == [.run, .others, .unknown])
    #expect(bench.judgments.map(\.delay) == [.zero, .zero, .zero])
  }

  @Test func `why a save with the same content leads to nothing is said`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/o": "0"])
    bench.evidence = ["/p/o": .run]
    for _ in 1...2 { _ = bench.round([("/p/a", "saved"), ("/p/o", "written")]) }
    #expect(bench.followUp == .none)
    #expect(bench.judgments.map(\.path) == ["/p/a"])
    #expect(bench.judgments.map(\.decision) == [.unchanged])
  }
}
