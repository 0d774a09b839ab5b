import FileObservation
import Support
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

  @Test func `the first changes of paths that have never changed before stop a build`() {
    var bench = ChangeJudgeBench(Self.files.merging(["/p/c": "c"]) { $1 })
    bench.begin()
    for path in ["/p/log", "/p/a", "/p/b", "/p/c"] as [Path] {
      bench.write(path, "2", .building)
      #expect(bench.run == [path])
      bench.launch()
    }
  }

  @Test func `a new file stops a build if files with its ending are edited in its directory`() {
    var bench = ChangeJudgeBench(["/p/a.c": "a"])
    bench.programs = ["/p/p.c"]
    bench.write("/p/a.c", "saved", .idle)
    bench.begin()
    for path in ["/p/app", "/p/b.h", "/p/p.c", "/out/b.c"] as [Path] {
      bench.write(path, "made", .building)
      #expect(bench.actions.isEmpty, "\(path)")
    }
    bench.write("/p/b.c", "new", .building)
    #expect(bench.run == ["/p/b.c"])
    for count in 1...4 {
      bench.launch()
      bench.now += .milliseconds(300 + 400 * count)
      bench.write("/p/b.c", "\(count)", .building)
      #expect(bench.run == ["/p/b.c"])
    }
  }

  @Test func `a save stops a build at once, also if the next run is delayed`() {
    var bench = ChangeJudgeBench(["/p/a": "0"])
    bench.evidence["/p/a"] = .others
    bench.begin()
    for number in 1...59 {
      bench.now += .milliseconds(200 + number * 7919 % 700)
      bench.write("/p/a", "\(number)", .building)
      #expect(bench.run == ["/p/a"])
      bench.begin()
    }
    bench.judge.limit = StartLimit(share: 2)
    for _ in 1...10 { bench.judge.records["/p/a"]?.limit.started(at: bench.now.asInstant) }
    bench.write("/p/a", "late", .building)
    #expect(bench.run == nil && bench.actions.contains(.stopBuilds(["/p/a"])))
    #expect(bench.judge.delayedPaths == ["/p/a"])
    // What a service has made that ends with its build is judged when the delay has ended.
    (bench.judge.endsByItself, bench.judge.latestMade) = (true, bench.now.asInstant)
    bench.evidence["/p/o"] = .unknown
    bench.write([("/p/a", "later"), ("/p/o", "made")], .buildingService)
    #expect(bench.run == nil && bench.actions.contains(.stopBuilds(["/p/a"])))
    #expect(bench.judge.latestMade == nil && bench.judge.delayedPaths == ["/p/a"])
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

  @Test func `a directory in which a build makes files does not stop it`() {
    var bench = ChangeJudgeBench([:])
    bench.files["/p/out"] = .directory
    bench.begin()
    bench.report([.of("/p/out", .modified)], .building)
    #expect(bench.run == nil)
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

  @Test func `a path that was edited stops a build, unless it holds what it held`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.write("/p/a", "saved", .idle)
    bench.begin()
    bench.write("/p/a", "formatted", .building)
    #expect(bench.run == ["/p/a"])
    bench.launch()
    bench.write("/p/a", "formatted", .building)
    #expect(bench.actions.isEmpty)
    bench.write("/p/a", "saved again", .building)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a save by others that leaves what the build began with does not stop it`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.evidence["/p/a"] = .others
    bench.begin()
    bench.write("/p/a", "saved", .building)
    #expect(bench.run == ["/p/a"])
    bench.launch()
    for _ in 0..<2 {
      bench.write("/p/a", "saved", .building)
      #expect(bench.actions.isEmpty)
    }
    bench.end()
    #expect(bench.actions == [.settle(["/p/a"])])
    bench.begin()
    bench.write("/p/a", "saved", .building)
    #expect(bench.actions.isEmpty)
    bench.write("/p/a", "saved again", .building)
    #expect(bench.run == ["/p/a"])
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

  @Test(arguments: [nil, "0"], [true, false])
  func `what a build has made before a save stopped it does not stop the next one`(
    _ former: String?, isOnlyReader: Bool
  ) {
    var bench = ChangeJudgeBench(Self.files)
    bench.programs = ["/p/o"]
    for path in ["/p/o", "/p/text"] as [Path] where former != nil { bench.files[path] = .text("0") }
    bench.write("/p/a", "saved", .idle)
    bench.begin()
    if former == nil { bench.write("/p/text", "1", .building) }
    bench.write("/p/o", "1", .building)
    #expect(bench.actions.isEmpty)
    for count in 1...4 {
      bench.now += .milliseconds(300 + 200 * count)
      bench.write("/p/a", "\(count)", .building)
      #expect(bench.run == ["/p/a"])
      // As make removes what it has not finished.
      bench.write("/p/o", nil)
      bench.request()
      bench.launch(isOnlyReader: isOnlyReader)
      bench.now += .milliseconds(100 * count)
      bench.write("/p/o", "2", .building)
      #expect(bench.actions.isEmpty)
      bench.write("/p/o", nil, .building)
      #expect(bench.actions.isEmpty)
      if former == nil { bench.write("/p/text", "\(count)", .building) }
      #expect(bench.actions.isEmpty)
    }
  }

  @Test
  func `what was saved while a build was being stopped stops later ones when it is saved again`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved", .building)
    #expect(bench.run == ["/p/a"])
    bench.write("/p/b", "saved", .running)
    bench.begin()
    bench.now += .milliseconds(300)
    bench.write("/p/b", "saved again", .building)
    #expect(bench.run == ["/p/b"])
    bench.begin()
    bench.end()
    bench.begin()
    bench.now += .milliseconds(300)
    bench.write("/p/b", "saved a third time", .building)
    #expect(bench.run == ["/p/b"])
  }

  /// What people are known to save stops `TaskStateMachine.mostStops` runs.
  @Test(arguments: [4, 2, 0.2])
  func `at the same time after each start, a path stops a build some times`(_ seconds: Double) {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    for count in 0...10 {
      bench.now += .seconds(seconds)
      bench.write("/p/a", "\(count)", .building)
      if bench.run == nil { break }
      bench.launch()
    }
    #expect(bench.actions.isEmpty, "the build may write it")
    bench.end()
    #expect(bench.followUp != .none)
  }

  /// As a program does that watches what the build writes elsewhere.
  @Test(arguments: [0.6, 1.5], ["/p/a", nil])
  func `a writer outside that follows the start does not stop builds for ever`(
    offset: Double, path: Path?
  ) {
    var bench = ChangeJudgeBench(Self.files)
    var starts: [Duration] = []
    var number = 0
    while bench.now < .seconds(60) {
      bench.begin()
      starts.append(bench.now)
      bench.now += .seconds(offset)
      number += 1
      let path = path ?? Path("/p/new/\(number)")
      bench.evidence = [path: .others]
      bench.write(path, "\(number)", .building)
      if bench.run != nil { continue }
      bench.end(after: .seconds(2 - offset))
      guard bench.waitForRun() != nil else { break }
    }
    #expect(starts.count <= 20)
  }

  @Test func `a person who saves in each build stops each of them, and is not blamed`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.write("/p/a", "saved", .idle)
    bench.begin()
    for count in 1...40 {
      bench.now += .milliseconds(300 + count * 7919 % 1000)
      bench.write("/p/a", "\(count)", .building)
      // Two saves in a row at the same time after the start may occur, but not the last one in vain.
      guard bench.run == nil else {
        bench.launch()
        continue
      }
      bench.now += .seconds(1)
      bench.write("/p/a", "\(count) again", .building)
      #expect(bench.run == ["/p/a"])
      bench.launch()
    }
    bench.end()
    #expect(bench.followUp == .none)
    #expect(bench.loops.isEmpty)
    #expect(bench.judge.repetitions.values.allSatisfy { $0 <= 10 })
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
    for evidence in [Verdict.unknown, .others] {
      var bench = ChangeJudgeBench(Self.files)
      _ = bench.round()
      bench.evidence["/p/a"] = evidence
      let followUps = (0..<13).map { count in
        bench.now += .milliseconds(30 * (count % 3))
        bench.write("/p/a", "save \(count)", .othersRunning)
        let followUp = bench.followUp
        bench.waitForDelay()
        _ = bench.round()
        return followUp
      }
      let law = FollowUp.law(13)
      // Those that are proved are delayed later.
      if evidence == .others {
        #expect(followUps[..<7] == [FollowUp](repeating: .now, count: 7)[...])
      } else {
        #expect(followUps[..<3] == law[..<3] && followUps.last == law.last)
      }
    }
  }

  /// Runs of others may have made them, which this one has started by way of a third.
  @Test(arguments: [ChangeJudge.Situation.leftovers, .othersRunning])
  func `a change of unknown origin begins a run with one that others have made`(
    situation: ChangeJudge.Situation
  ) {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round()
    bench.now += .seconds(10)
    bench.evidence = ["/p/x": .others]
    bench.write([("/p/x", "saved"), ("/p/y", "saved")], situation)
    let runs = bench.actions.flatMap { action -> [Path] in
      if case .run(let paths) = action { paths } else { [] }
    }
    #expect(runs.sorted() == ["/p/x", "/p/y"])
  }

  @Test(arguments: [ChangeJudge.Situation.leftovers, .othersRunning])
  func `saves beside other processes are hardly delayed, and what follows the runs becomes rare`(
    situation: ChangeJudge.Situation
  ) {
    for isPerson in [true, false] {
      var bench = ChangeJudgeBench(Self.files)
      var delays: [Duration] = []
      for count in 0..<20 {
        _ = bench.round()
        bench.now += isPerson ? .seconds(2 + 3 * (count % 4)) : .milliseconds(500)
        bench.write("/p/a", "\(count)", situation)
        delays.append(bench.waitForRun() ?? .zero)
      }
      #expect(
        isPerson ? delays.allSatisfy { $0 <= .seconds(1) } : delays[12] >= Suspicion.Rules.noticed,
        "\(delays)")
    }
  }

  /// A server that writes all the time, or a long test, so that nothing is proved.
  @Test func `saves of various files beside processes that were there before are hardly delayed`() {
    var bench = ChangeJudgeBench(Self.files)
    for number in 0..<6 { bench.files[Path("/q/\(number)")] = .text("0") }
    _ = bench.round()
    for count in 0..<40 {
      bench.now += .milliseconds(2000 + count * 7919 % 500)
      bench.write(Path("/q/\(count % 6)"), "#\(count)", .leftovers)
      let delay = bench.waitForRun()
      #expect(delay ?? .seconds(99) <= .milliseconds(250), "save \(count)")
      _ = bench.round()
    }
    #expect(bench.judge.announcedPaths.isEmpty)
  }

  /// As a watcher of another tool does.
  @Test func `what answers to each run at rest becomes rare, whatever it changes`() {
    var bench = ChangeJudgeBench()
    var named: [Path] = []
    let delays = (0..<160).map { number in
      bench.begin()
      bench.now += .seconds(1)
      bench.end()
      bench.now += .milliseconds(500)
      bench.write(Path(number % 2 == 0 ? "/p/a" : "/p/b"), "\(number)", .idle)
      if number < 130 { named += bench.loops.map(\.path) }
      return bench.waitForRun() ?? .zero
    }
    #expect(
      delays[..<120].allSatisfy { $0 == .zero } && delays.last ?? .zero >= Suspicion.Rules.noticed)
    // Also before that is noticed, and once.
    #expect(named.sorted() == ["/p/a", "/p/b"])
    // A person saves.
    bench.begin()
    bench.now += .seconds(1)
    bench.end()
    bench.now += .seconds(3)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.followUp == .now)
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
    // A test is a part of the two seconds from start to change.
    let expected = (1...17).map { number -> FollowUp in
      let delay = ChangeJudgeRules.delay(number)
      if delay == .zero { return .now }
      return .after(delay)
    }
    #expect(followUps == [expected, expected])
  }
}
