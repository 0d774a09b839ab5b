import FileObservation
import Testing

@testable import ActionRunning

/// The consequences of a change during a build beside the command that it precedes, and while only runs
/// of other rounds are active.
struct ChangeJudgeOthersTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  // MARK: Builds

  /// A bench in which a run has changed `/p/log` before, and the one after that has not.
  private func benchWithLog() -> ChangeJudgeBench {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/log", "1")])
    _ = bench.round()
    return bench
  }

  @Test func `the first change of a path that has never changed before stops a build`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.run == ["/p/log"])
    bench.begin()
    bench.write("/p/a", "3", .building)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a build is not stopped by the first change of what compilers make`() {
    var bench = ChangeJudgeBench(["/p/a": "1", "/p/o": "1"])
    bench.programs = ["/p/o"]
    bench.begin()
    bench.write("/p/o", "2", .building)
    #expect(bench.run == nil)
    bench.evidence["/p/a"] = .others
    bench.write("/p/a", "saved", .building)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a change during a build is judged at its end`() {
    var bench = benchWithLog()
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.actions.isEmpty)
    bench.end()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a change that others are proved to make stops a build`() {
    var bench = benchWithLog()
    bench.evidence["/p/a"] = .others
    for count in 0..<3 {
      bench.begin()
      bench.write([("/p/a", "saved \(count)"), ("/p/log", "\(count)")], .building)
      #expect(bench.run == ["/p/a"])
    }
  }

  @Test func `only a path that was edited, and that no run has changed, stops a build`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.write("/p/a", "saved", .idle)
    bench.begin()
    bench.write("/p/a", "saved again", .building)
    #expect(bench.run == ["/p/a"])
    bench.begin()
    bench.write("/p/a", "formatted", .running)
    bench.end()
    bench.begin()
    bench.write("/p/a", "formatted again", .building)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that the build has open for writing does not stop it`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.write("/p/a", "saved", .idle)
    bench.begin()
    bench.evidence["/p/a"] = .run
    bench.write("/p/a", "formatted", .building)
    #expect(bench.actions.isEmpty)
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `what a build changes is not edited because another change stops the build`() {
    var bench = benchWithLog()
    bench.begin()
    bench.evidence["/p/a"] = .others
    bench.write([("/p/a", "saved"), ("/p/log", "2")], .building)
    #expect(bench.run == ["/p/a"])
    #expect(bench.judge.editedPaths == ["/p/a"])
    bench.begin()
    bench.write("/p/log", "3", .building)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that the build may have changed stops it once`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.write("/p/log", "edited", .idle)
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.run == ["/p/log"])
    bench.begin()
    bench.write("/p/log", "3", .building)
    #expect(bench.actions.isEmpty)
  }

  // MARK: Other runs

  @Test func `a change while others run leads to a run at once`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round()
    bench.write("/p/a", "saved", .othersRunning)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `the same bytes while others run are owed nothing`() {
    var bench = ChangeJudgeBench(Self.files)
    #expect(bench.rounds(2) { _ in [("/p/a", "b")] } == [.now, .none])
    bench.write("/p/a", "b", .othersRunning)
    #expect(bench.actions == [.settle(["/p/a"])])
    bench.write("/p/a", "c", .othersRunning)
    #expect(bench.followUp == .now)
  }

  /// They may be made by the others' runs, which the own run has started.
  @Test func `saves while others run are delayed by the law, unless they are proved`() {
    for evidence in [Evidence.unknown, .others] {
      var bench = ChangeJudgeBench(Self.files)
      _ = bench.round()
      bench.evidence["/p/a"] = evidence
      let followUps = (0..<13).map { count in
        bench.now += .milliseconds(100 * (count % 3))
        bench.write("/p/a", "save \(count)", .othersRunning)
        let followUp = bench.followUp
        bench.waitForDelay()
        _ = bench.round()
        return followUp
      }
      #expect(
        followUps
          == (evidence == .others ? Array(repeating: .now, count: 13) : FollowUp.law(13)))
    }
  }

  @Test
  func `saves beside what a run has left behind are hardly delayed, and its own changes stop`() {
    for isPerson in [true, false] {
      var bench = ChangeJudgeBench(Self.files)
      var delays: [Duration] = []
      for count in 0..<20 {
        _ = bench.round()
        bench.now += isPerson ? .seconds(2 + 3 * (count % 4)) : .milliseconds(500)
        bench.write("/p/a", "\(count)", .leftovers)
        delays.append(bench.waitForRun() ?? .zero)
      }
      #expect(
        isPerson ? delays.allSatisfy { $0 <= .milliseconds(250) } : delays[8] > .seconds(30),
        "\(delays)")
    }
  }

  @Test func `tasks that change each other's files come to rest`() {
    var benches = [ChangeJudgeBench(Self.files), ChangeJudgeBench(Self.files)]
    var followUps: [[FollowUp]] = [[], []]
    benches[0].begin()
    for count in 0..<34 {
      let other = 1 - count % 2
      // Each time another file, so that no count of one path delays it.
      let path = Path("/p/\(count % 9)")
      benches[other].files[path] = .text("0")
      benches[other].now += .seconds(1)
      benches[other].write(path, "#\(count)", .othersRunning)
      followUps[other].append(benches[other].followUp)
      benches[other].waitForDelay()
      _ = benches[other].round()
    }
    let delays = [Duration](repeating: .seconds(1), count: 6) + [.seconds(60)]
    let expected = FollowUp.law(10) + delays.map(FollowUp.after)
    #expect(followUps == [expected, expected])
  }
}
