import FileObservation
import Testing

@testable import ActionRunning

/// The consequences of a change during a run, for policies that wait for its end.
struct RoundsTests {
  private typealias FollowUp = RoundsBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/log": "0"]

  // MARK: Contents

  @Test func `a command that writes the same bytes again rests after one follow-up`() {
    var bench = RoundsBench(["/p/o": "0"])
    #expect(bench.rounds(9) { _ in [("/p/o", "same")] } == [.now, .none])
  }

  @Test func `bytes that return in every second run are owed a run each time`() {
    var bench = RoundsBench(["/p/o": "0"])
    #expect(bench.rounds(3) { [("/p/o", "\($0 % 2)")] } == FollowUp.seconds(0, 4, 8))
  }

  @Test func `a round in which nothing changes leads to nothing`() {
    var bench = RoundsBench()
    #expect(bench.round() == .none)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that the round before left alone is owed a run, whatever it holds`() {
    var bench = RoundsBench(["/p/a": "a"])
    #expect(bench.round([("/p/a", "b")]) == .now)
    #expect(bench.round() == .none)
    // Its content was known two rounds ago.
    #expect(bench.round([("/p/a", "b")], isFollowUp: true) == .now)
  }

  @Test func `a save in the run is reported although the output settles in it`() {
    var bench = RoundsBench(["/p/a": "a", "/p/o": "0"])
    #expect(bench.round([("/p/o", "1")]) == .now)
    #expect(bench.round([("/p/o", "1"), ("/p/a", "b")]) == .now)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a save of a path that the command writes, too, is owed a run`() {
    var bench = RoundsBench(["/p/a": "a"])
    #expect(bench.rounds(2) { _ in [("/p/a", "formatted")] } == [.now, .none])
    // It was formatted and then saved again.
    bench.begin(isFollowUp: true)
    bench.write("/p/a", "formatted")
    bench.write("/p/a", "saved")
    bench.end()
    #expect(bench.followUp == .after(.seconds(4)))
  }

  @Test func `bytes that are changed and taken back within one run are owed nothing`() {
    var bench = RoundsBench(["/p/a": "a"])
    _ = bench.round([("/p/a", "a")])
    bench.begin()
    bench.write("/p/a", "b")
    bench.write("/p/a", "a")
    bench.end()
    #expect(bench.followUp == .none)
  }

  @Test func `a change of the mode is a change`() {
    var bench = RoundsBench(["/p/o": "0"])
    _ = bench.round([("/p/o", "1")])
    bench.begin()
    bench.files["/p/o"] = .text("1", attributes: 0o755)
    bench.report([.of("/p/o", .metadata)])
    bench.end()
    #expect(bench.followUp != .none)
  }

  @Test func `absence is a content`() {
    var bench = RoundsBench(["/p/d/o": "0"])
    #expect(bench.round([("/p/d/o", nil)]) == .now)
    bench.begin()
    bench.write("/p/d/o", "1")
    bench.write("/p/d/o", nil)
    bench.end()
    #expect(bench.followUp == .none)
  }

  @Test func `a directory that is moved as a whole is compared by its stamp`() {
    var bench = RoundsBench()
    let move = ChangeBatch.Change(
      path: "/p/new", kind: .renamed, type: .directory, from: "/p/old")
    var asked: [Bool] = []
    let reader: Rounds.Reader = { paths in
      asked += paths.filter { $0.path == "/p/new" }.map(\.isMovedAsWhole)
      return paths.map { _ in .directory }
    }
    bench.begin()
    bench.report([move])
    guard case .read(let generation)? = bench.rounds.workEnded().first else {
      Issue.record("nothing is read")
      return
    }
    _ = bench.rounds.hasRead(
      generation: generation, at: bench.now.asInstant,
      Rounds.Facts(isOwed: { _ in true }, contents: reader))
    #expect(asked == [true])
  }

  @Test func `a renamed file is judged together with its former path`() {
    var bench = RoundsBench(["/p/a": "a"])
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
    #expect(bench.forgiven == ["/p/b"])
    bench.waitForDelay()
    #expect(bench.run == ["/p/a"])
  }

  // MARK: Consecutive follow-ups

  @Test func `an output that differs each time gets one follow-up at once, then 4, 8, 16 s`() {
    var bench = RoundsBench()
    let followUps = bench.rounds(8) { [("/p/log", "\($0)")] }
    #expect(followUps == FollowUp.seconds(0, 4, 8, 16, 32, 64, 128, 256))
  }

  @Test func `a path that was ever edited at rest waits 1, 2, 4 s instead`() {
    var bench = RoundsBench(["/p/a": "a"])
    bench.editAtRest("/p/a", "b")
    let followUps = bench.rounds(8, isFollowUp: true) { [("/p/a", "#\($0)")] }
    #expect(followUps == FollowUp.seconds(0, 0, 0, 1, 2, 4, 8, 16))
  }

  @Test(arguments: [true, false])
  func `no delay is longer than ten minutes`(isEdited: Bool) throws {
    var bench = RoundsBench(["/p/a": "a"])
    if isEdited { bench.editAtRest("/p/a", "b") }
    let followUps = bench.rounds(70, isFollowUp: true) { [("/p/a", "#\($0)")] }
    let longest = isEdited ? 13 : 9
    try #require(followUps.count == 70)
    #expect(followUps[longest - 1] != .after(.seconds(600)))
    #expect(followUps[longest...].allSatisfy { $0 == .after(.seconds(600)) })
  }

  @Test func `a round that leaves a path unchanged resets its count`() {
    var bench = RoundsBench(["/p/a": "a", "/p/b": "b"])
    let first = bench.rounds(4) { [("/p/a", "#\($0)")] }
    #expect(first == FollowUp.seconds(0, 4, 8, 16))
    #expect(bench.round(isFollowUp: true) == .none)
    let again = bench.rounds(4, isFollowUp: true) { [("/p/a", "##\($0)")] }
    #expect(again == FollowUp.seconds(0, 4, 8, 16))
  }

  @Test func `a path with the same content again keeps its count`() {
    var bench = RoundsBench(["/p/a": "a"])
    _ = bench.rounds(3) { [("/p/a", "#\(min($0, 1))")] }
    #expect(bench.rounds.followUpCounts["/p/a"] == 2)
    let again = bench.rounds(3, isFollowUp: true) { [("/p/a", "##\($0)")] }
    #expect(again == FollowUp.seconds(8, 16, 32))
  }

  @Test func `a follow-up counts for each of its paths`() {
    var bench = RoundsBench()
    bench.files["/p/a"] = .text("a")
    bench.files["/p/c"] = .text("c")
    _ = bench.rounds(3) { [("/p/a", "#\($0)")] }
    bench.waitForDelay()
    #expect(bench.rounds.followUpCounts == ["/p/a": 3])
    // Immediate because of the new path.
    #expect(bench.round([("/p/a", "#"), ("/p/c", "#")]) == .now)
    #expect(bench.rounds.followUpCounts == ["/p/a": 4, "/p/c": 1])
  }

  @Test func `the shortest delay decides, and the follow-up receives all changes`() {
    var bench = RoundsBench(["/p/a": "a"])
    let first = bench.rounds(3) { [("/p/log", "#\($0)")] }
    #expect(first.last == .after(.seconds(8)))
    bench.waitForDelay()
    #expect(bench.round([("/p/log", "other"), ("/p/a", "saved")]) == .now)
    #expect(bench.run == ["/p/log", "/p/a"])
  }

  // MARK: Changes at rest

  @Test func `a change while nothing runs begins a round at once, whatever was delayed`() {
    var bench = RoundsBench(["/p/a": "a"])
    let first = bench.rounds(4) { [("/p/a", "#\($0)")] }
    #expect(first.last == .after(.seconds(16)))
    bench.now += .seconds(2)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a change while nothing runs halves the count of its path`() {
    var bench = RoundsBench(["/p/a": "a", "/p/b": "b"])
    _ = bench.rounds(7) { [("/p/a", "#\($0)"), ("/p/b", "#\($0)")] }
    bench.waitForDelay()
    #expect(bench.rounds.followUpCounts == ["/p/a": 7, "/p/b": 7])
    _ = bench.round([("/p/a", "#"), ("/p/b", "#")])
    bench.now += .seconds(2)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.rounds.followUpCounts == ["/p/a": 3, "/p/b": 7])
    #expect(bench.round([("/p/a", "##")]) == .after(.seconds(1)))
  }

  @Test func `a change while nothing runs makes the content unknown`() {
    var bench = RoundsBench(["/p/a": "a"])
    #expect(bench.rounds(2) { _ in [("/p/a", "b")] } == [.now, .none])
    bench.now += .seconds(2)
    bench.write("/p/a", "c", .idle)
    // Back to its content at the end of the previous round, with which no round has begun since.
    #expect(bench.round([("/p/a", "b")]) == .now)
  }

  @Test func `an edit while nothing runs ends the series of follow-ups for all paths`() {
    var bench = RoundsBench()
    _ = bench.rounds(5) { [("/p/a", "#\($0)")] }
    bench.waitForDelay()
    bench.begin()
    #expect(bench.rounds.depth == 5)
    bench.end()
    bench.write("/p/b", "b", .idle)
    bench.begin()
    #expect(bench.rounds.depth == 0)
  }

  // MARK: Follow-ups for different paths

  @Test func `a ring of paths that change in turn comes to rest by the depth alone`() {
    var bench = RoundsBench()
    for name in 0..<8 { bench.files[Path("/p/\(name)")] = .text("0") }
    let followUps = bench.rounds(10) { [(Path("/p/\($0 % 8)"), "#\($0)")] }
    #expect(followUps == FollowUp.seconds(0, 0, 0, 0, 0, 0, 0, 4, 8, 16))
  }

  @Test func `a round that no change led to begins at no depth`() {
    var bench = RoundsBench(Self.files)
    _ = bench.rounds(3) { [("/p/log", "#\($0)")] }
    bench.waitForDelay()
    var other = bench
    other.begin()
    #expect(other.rounds.depth == 3)
    bench.begin(isFollowUp: false)
    #expect(bench.rounds.depth == 0)
  }

  // MARK: Announcements

  @Test func `the first delay for a path is announced, and no other`() {
    var bench = RoundsBench(Self.files)
    var announced: [[FeedbackLoop]] = []
    for count in 0..<6 {
      bench.waitForDelay()
      _ = bench.round([("/p/log", "#\(count)")])
      announced.append(bench.loops)
    }
    let loop = FeedbackLoop(path: "/p/log", entries: [], delay: .seconds(4))
    #expect(announced == [[], [loop], [], [], [], []])
  }

  @Test func `of several paths the one with the most follow-ups is announced`() {
    var bench = RoundsBench(Self.files)
    _ = bench.round([("/p/log", "#")])
    #expect(bench.round([("/p/a", "x"), ("/p/log", "x")]) == .now)
    bench.begin()
    bench.write([("/p/a", "y"), ("/p/log", "y")])
    bench.end()
    #expect(bench.loops.map(\.path) == ["/p/log"])
  }

  @Test func `a directory is announced with two of its entries`() {
    var bench = RoundsBench()
    for count in 0..<4 { _ = bench.round([(Path("/p/out/\(count)"), "#")]) }
    let loop = FeedbackLoop(
      path: "/p/out", entries: ["/p/out/3", "/p/out/2"], delay: .seconds(4))
    #expect(bench.loops == [loop])
  }
}
