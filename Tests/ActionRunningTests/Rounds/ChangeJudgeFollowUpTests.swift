import FileObservation
import Support
import Testing

@testable import ActionRunning

/// When a follow-up is due, how directories count, and when a follow-up is cancelled.
struct ChangeJudgeFollowUpTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  /// A bench with a follow-up for `/p/log` that is delayed for long.
  private func delayed() -> ChangeJudgeBench {
    var bench = ChangeJudgeBench(Self.files)
    let followUps = bench.rounds(14) { [("/p/log", "#\($0)")] }
    #expect(followUps.last == .after(Suspicion.Rules.noticed))
    return bench
  }

  // MARK: Delays

  @Test func `what a reader of the output writes after each run is delayed`() {
    var bench = ChangeJudgeBench(["/p/log": "0"])
    bench.evidence = ["/p/log": Verdict.run]
    var followUps: [FollowUp] = []
    for number in 0..<12 {
      bench.begin()
      bench.end(after: .milliseconds(2))
      bench.now += .milliseconds(number == 6 ? 900 : 60)
      bench.write("/p/log", "#\(number)", .idle)
      followUps.append(bench.followUp)
      bench.waitForDelay()
    }
    #expect(followUps.prefix(3) == [.now, .now, .now])
    #expect(followUps.dropFirst(3).contains(.after(Suspicion.Rules.test.least)), "\(followUps)")
  }

  @Test func `a save that others are proved to make is no echo of the runs`() {
    var bench = delayed()
    bench.now += .milliseconds(100)
    bench.evidence = ["/p/log": .others]
    bench.write("/p/log", "saved", .idle)
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a follow-up starts when its delay is over`() {
    var bench = delayed()
    bench.waitForDelay()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `an edit that is reported only as the delay ends is compared with nothing older`() {
    var bench = ChangeJudgeBench(["/p/a": "a", "/p/log": "0"])
    for count in 0..<14 { _ = bench.round([("/p/log", "#\(count)"), ("/p/a", "b")]) }
    guard case .after(let delay) = bench.followUp, let generation = bench.generation else {
      Issue.record("nothing is delayed")
      return
    }
    bench.now += delay
    // Saved 5 ms ago.
    bench.files["/p/a"] = .text("saved")
    let read = bench.judge.elapsed(generation: generation)
    bench.report([.of("/p/a", .modified)], .idle)
    bench.actions = read
    bench.answer()
    #expect(bench.run == ["/p/log", "/p/a"])
    bench.begin()
    bench.write("/p/a", "b")
    bench.end()
    #expect(bench.settled.isEmpty)
  }

  @Test func `a round that begins earlier includes the owed changes`() {
    var bench = delayed()
    let generation = bench.generation
    bench.write("/p/a", "saved", .idle)
    #expect(bench.begin() == ["/p/log", "/p/a"])
    #expect(!bench.judge.owesRun)
    bench.end()
    #expect(bench.followUp == .none)
    bench.elapse(generation ?? 0)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a report without changes leads to nothing`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.report([])
    bench.end()
    #expect(bench.followUp == .none)
  }

  @Test func `a round that begins before the last one was judged receives its changes`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    #expect(bench.begin() == ["/p/a"])
    bench.end()
    #expect(bench.followUp == .none)
  }

  @Test func `a path that changes twice in a round is part of the run once`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/new", "1")
    bench.write("/p/a", nil)
    bench.write("/p/new", "2")
    bench.write("/p/a", "again")
    bench.end()
    #expect(bench.run == ["/p/new", "/p/a"])
  }

  @Test func `a change that is reported while the end is being read belongs to the round`() {
    var bench = ChangeJudgeBench(Self.files)
    #expect(bench.round([("/p/log", "1")]) == .now)
    bench.begin()
    bench.actions = bench.judge.workEnded()
    let generation = bench.generation
    #expect(bench.judge.isFlushing)
    bench.write("/p/log", "1", .idle)
    #expect(bench.actions.isEmpty)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.actions.isEmpty)
    bench.actions = [.flush(generation: generation ?? 0)]
    bench.answer()
    #expect(!bench.judge.isFlushing)
    #expect(bench.run == ["/p/a"])
  }

  // MARK: Directories

  @Test func `a new name each time counts for its directory`() {
    var bench = ChangeJudgeBench()
    let followUps = bench.rounds(13) { [(Path("/p/out/\($0)"), "#")] }
    #expect(followUps == FollowUp.law(13))
  }

  @Test func `several new names each time are one follow-up for their directory`() {
    var bench = ChangeJudgeBench()
    let followUps = bench.rounds(13) { round in
      (0..<5).map { (Path("/p/out/\(round).\($0)"), "#") }
    }
    #expect(followUps == FollowUp.law(13))
  }

  @Test func `removing another name each time counts for its directory`() {
    var bench = ChangeJudgeBench(
      Dictionary(uniqueKeysWithValues: (0..<13).map { (Path("/p/out/\($0)"), "#") }))
    let followUps = bench.rounds(13) { [(Path("/p/out/\($0)"), nil)] }
    #expect(followUps == FollowUp.law(13))
  }

  @Test func `a file that appears and disappears in turn counts for itself as well`() {
    var bench = ChangeJudgeBench()
    let followUps = bench.rounds(14) { [("/p/x", $0 % 2 == 0 ? "#" : nil)] }
    #expect(followUps == FollowUp.law(14))
    #expect(bench.judge.announcedPaths == ["/p/x"])
  }

  @Test func `a temporary file that comes and goes in a round is owed no run`() {
    var bench = ChangeJudgeBench()
    bench.begin()
    bench.write("/p/tmp", "t")
    bench.write("/p/tmp", nil)
    bench.end()
    #expect(bench.settled == ["/p/tmp"] && bench.followUp == .none)
  }

  @Test func `what people have made and taken away again may have been in the run`() {
    var bench = ChangeJudgeBench(["/p/a.c": "a"])
    bench.begin()
    bench.evidence = ["/p/x": .others]
    bench.write("/p/x", "t")
    bench.write("/p/x", nil)
    bench.end()
    #expect(bench.run == ["/p/x"])
    bench.write("/p/a.c", "saved", .idle)
    bench.begin()
    bench.write("/p/b.c", "t")
    bench.write("/p/b.c", nil)
    bench.end()
    #expect(bench.run == ["/p/b.c"])
    // Runs make and remove others of this kind each time.
    for number in 0..<3 {
      bench.begin()
      bench.write(Path("/p/\(number).c"), "t")
      bench.write(Path("/p/\(number).c"), nil)
      bench.end()
      #expect(bench.settled == [Path("/p/\(number).c")])
    }
  }

  @Test func `a temporary file that was seen at rest once is one of each later run`() {
    var bench = ChangeJudgeBench()
    bench.begin()
    bench.end()
    bench.write("/p/tmp", "t", .idle)
    bench.write("/p/tmp", nil, .idle)
    for number in 0..<3 {
      bench.begin()
      bench.write("/p/tmp", "t")
      bench.write("/p/tmp", nil)
      bench.end()
      #expect(bench.run == (number == 0 ? ["/p/tmp"] : nil))
    }
    // A person makes it.
    bench.begin()
    bench.evidence = ["/p/tmp": .others]
    bench.write("/p/tmp", "t")
    bench.write("/p/tmp", nil)
    bench.end()
    #expect(bench.run == ["/p/tmp"])
  }

  @Test func `a file with which another task has begun is no temporary file`() {
    var bench = ChangeJudgeBench()
    bench.begin()
    bench.write("/p/tmp", "t")
    bench.launch(isRestart: true, isOnlyReader: false)
    bench.write("/p/tmp", nil)
    bench.end()
    #expect(bench.run == ["/p/tmp"])
  }

  @Test func `a file that was replaced by a temporary one, and is gone, is owed a run`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    bench.begin()
    bench.write("/p/tmp", "t")
    bench.files["/p/tmp"] = nil
    bench.files["/p/a"] = .text("t")
    bench.report([.of("/p/a", .renamed, from: "/p/tmp")])
    bench.write("/p/a", nil)
    bench.end()
    #expect(bench.settled == ["/p/tmp"] && bench.run == ["/p/a"])
  }

  @Test func `a file that is removed for good is no temporary file`() {
    var bench = ChangeJudgeBench(["/p/a": "a"])
    #expect(bench.round([("/p/tmp", "t")]) == .now)
    bench.begin()
    bench.write("/p/a", nil)
    bench.end()
    #expect(bench.followUp != .none)
  }

  // MARK: Stopping

  @Test func `a round that the user stops has no follow-up, and the next one receives its changes`()
  {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    bench.actions = bench.judge.stopped()
    #expect(bench.owed == ["/p/a"])
    bench.write("/p/b", "at the end")
    #expect(bench.actions.isEmpty)
    bench.end()
    #expect(bench.actions == [.announceOwed(["/p/b"])])
    #expect(bench.owed == ["/p/a", "/p/b"])
    bench.write("/p/a", "saved again", .idle)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a round that is stopped while its end is being read leads to nothing`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.actions = bench.judge.workEnded()
    let generation = bench.generation
    bench.write("/p/a", "saved")
    bench.actions = bench.judge.stopped()
    #expect(bench.actions.isEmpty && bench.owed == ["/p/a"])
    bench.write("/p/b", "saved", .idle)
    #expect(bench.followUp == .none)
    bench.actions = [.flush(generation: generation ?? 0)]
    bench.answer()
    #expect(bench.actions == [.announceOwed(["/p/b"])])
    #expect(bench.owed == ["/p/a", "/p/b"])
  }

  @Test func `what others change while runs are being stopped begins a round`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.actions = bench.judge.stopped()
    bench.evidence["/p/a"] = .others
    bench.write([("/p/a", "saved"), ("/p/b", "at the end")])
    #expect(bench.run == ["/p/a"])
    #expect(bench.begin() == ["/p/a", "/p/b"])
    bench.end()
    #expect(bench.actions.isEmpty)
  }

  @Test func `what is saved while the end of stopped runs is read begins a round after it`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.actions = bench.judge.stopped()
    bench.actions = bench.judge.workEnded()
    let generation = bench.generation ?? 0
    bench.evidence["/p/a"] = .others
    bench.write("/p/a", "saved", .idle)
    bench.actions = [.flush(generation: generation)]
    bench.answer()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a stop while nothing runs does not hide the end of a delay`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(3) { [("/p/log", "#\($0)")] }
    _ = bench.round()
    bench.actions = bench.judge.stopped(awaitsEnd: false)
    bench.evidence["/p/log"] = .run
    bench.now += .milliseconds(100)
    bench.write("/p/log", "echo", .idle)
    #expect(bench.waitForRun() != nil)
  }

  @Test func `a stop keeps the owed changes and cancels their delay`() {
    var bench = delayed()
    let generation = bench.generation
    bench.actions = bench.judge.stopped()
    #expect(bench.actions.isEmpty && bench.owed == ["/p/log"])
    #expect(!bench.judge.owesRun)
    bench.elapse(generation ?? 0)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a stop while nothing runs does not concern the next change`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round()
    bench.actions = bench.judge.stopped()
    #expect(bench.actions.isEmpty)
    bench.write("/p/a", "saved", .idle)
    #expect(bench.run == ["/p/a"])
    #expect(bench.round([("/p/b", "saved")]) == .now)
  }

  @Test func `a stop while nothing runs does not concern changes while others run`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round()
    bench.actions = bench.judge.stopped()
    bench.write("/p/a", "saved", .othersRunning)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a run that becomes due after a stop at rest is started`() {
    var bench = delayed()
    bench.waitForDelay()
    _ = bench.round([("/p/log", "once more")])
    bench.actions = bench.judge.stopped()
    bench.write("/p/log", "saved", .othersRunning)
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    bench.waitForDelay()
    #expect(bench.run == ["/p/log"])
  }

  // MARK: Outdated answers

  @Test func `an answer of an earlier round does nothing`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.actions = bench.judge.workEnded()
    let generation = bench.generation ?? 0
    bench.begin()
    bench.write("/p/a", "saved")
    bench.actions = [.flush(generation: generation)]
    bench.answer()
    #expect(bench.actions.isEmpty)
    bench.actions = bench.judge.workEnded()
    let newest = bench.actions
    bench.actions = [.flush(generation: generation)]
    bench.answer()
    #expect(bench.actions.isEmpty && bench.judge.isFlushing)
    bench.actions = newest
    bench.answer()
    #expect(bench.run == ["/p/a"])
    bench.actions = newest
    bench.answer()
    #expect(bench.actions.isEmpty)
  }

  @Test func `a delay of an earlier round does nothing`() {
    var bench = delayed()
    let generation = bench.generation ?? 0
    #expect(bench.round([("/p/log", "other")]) == .after(Suspicion.Rules.noticed))
    let newest = bench.generation ?? 0
    bench.now += .seconds(10)
    bench.elapse(generation)
    #expect(bench.actions.isEmpty)
    bench.elapse(newest)
    #expect(bench.followUp == .now)
  }

  @Test func `a delay that has ended twice begins one run`() {
    var bench = delayed()
    let generation = bench.generation ?? 0
    bench.waitForDelay()
    #expect(bench.followUp == .now)
    bench.elapse(generation)
    #expect(bench.actions.isEmpty)
  }
}
