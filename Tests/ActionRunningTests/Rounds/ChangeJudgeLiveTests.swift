import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

/// The consequences of a change during a run that it restarts or signals, during a build, and while
/// other runs are active.
struct ChangeJudgeLiveTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  private func bench() -> ChangeJudgeBench {
    ChangeJudgeBench(hasInterruptibleService: true, Self.files)
  }

  /// The times that so many runs wait to be restarted. Each changes paths at this time after its start.
  private func delays(
    _ evidence: Verdict, count: Int = 20,
    at offset: (Int) -> Duration = { _ in .milliseconds(500) },
    writing path: (Int) -> Path = { _ in "/p/log" }
  ) -> [Duration] {
    var bench = bench()
    for number in 0..<10 { bench.files[Path("/q/\(number)")] = .text("before") }
    return (0..<count).map { number in
      bench.begin()
      bench.now += offset(number)
      bench.evidence = [path(number): evidence]
      bench.write(path(number), "#\(number)", .interruptible)
      return bench.waitForRun() ?? .seconds(-1)
    }
  }

  /// The delays where each change follows the start of the run.
  private static func law(_ count: Int) -> [Duration] {
    (1...count).map { ChangeJudgeRules.delay($0) }
  }

  @Test func `a change is judged when it is reported`() {
    var bench = bench()
    bench.begin()
    bench.now += .milliseconds(100)
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.run == ["/p/log"])
    bench.begin()
    bench.now += .milliseconds(100)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.run == ["/p/a"])
  }

  /// A service in which make works, and has made an object. The one before has ended by itself.
  private func building() -> ChangeJudgeBench {
    var bench = bench()
    bench.programs = ["/p/a.o"]
    bench.begin()
    bench.end()
    bench.begin()
    bench.now += .seconds(1)
    bench.write("/p/a.o", "made", .buildingService)
    return bench
  }

  @Test func `what make makes in a service restarts it only if nobody has received it at the end`()
  {
    var bench = building()
    #expect(bench.run == nil && bench.judge.awaitsBuild)
    bench.now += .seconds(1)
    bench.write("/p/a.o", "made again", .buildingService)
    #expect(bench.run == nil)
    bench.end()
    #expect(bench.run == ["/p/a.o"])
    #expect(!bench.judge.awaitsBuild)
    bench.begin()
    bench.end()
    #expect(bench.run == nil)
  }

  @Test func `it is judged soon after make has ended in a service that goes on`() {
    var bench = building()
    bench.isBuilding = true
    for _ in 0..<3 {
      bench.waitForDelay()
      #expect(bench.run == nil && bench.followUp == .after(ChangeJudge.buildLooks.pause))
    }
    bench.isBuilding = false
    bench.waitForDelay()
    #expect(bench.run == ["/p/a.o"])
    // As in 'make run', where the server must not start again when it has been used.
    bench.begin()
    bench.write("/p/a.o", "made again", .buildingService)
    #expect(bench.run == ["/p/a.o"])
  }

  @Test func `a build that fails does not tell that the service ends when it has built`() {
    var bench = bench()
    bench.begin()
    bench.end(hasSucceeded: false)
    #expect(!bench.judge.endsByItself)
    bench.begin()
    bench.end()
    #expect(bench.judge.endsByItself)
  }

  @Test func `it is judged a minute after the last file in a service in which make does not end`() {
    var bench = building()
    bench.isBuilding = true
    bench.now += .seconds(30)
    bench.write("/p/a.o", "made again", .buildingService)
    #expect(bench.waitForRun(most: 100) == .seconds(60))
  }

  @Test func `a save restarts the service meanwhile, with what make has made`() {
    for evidence in [Verdict.others, .unknown] {
      var bench = building()
      bench.evidence = ["/p/a": evidence]
      bench.write("/p/a", "saved", .buildingService)
      #expect(bench.run == ["/p/a"])
      #expect(bench.begin() == ["/p/a.o", "/p/a"])
      #expect(!bench.judge.awaitsBuild)
      bench.end()
      #expect(bench.run == nil)
    }
  }

  @Test func `an object that others have made restarts a service in which make works`() {
    var bench = bench()
    bench.programs = ["/p/a.o"]
    bench.begin()
    bench.evidence = ["/p/a.o": .others]
    bench.write("/p/a.o", "copied", .buildingService)
    #expect(bench.run == ["/p/a.o"])
  }

  @Test func `a service in which make makes an object anew in each run is slowed down`() {
    var bench = building()
    let delays = (0..<20).map { number in
      bench.end()
      let delay = bench.waitForRun() ?? .zero
      bench.begin()
      bench.now += .seconds(1)
      bench.write("/p/a.o", "#\(number)", .buildingService)
      #expect(bench.run == nil)
      return delay
    }
    #expect(delays.contains { $0 >= .seconds(8) }, "\(delays)")
  }

  @Test func `a run in the middle of a round begins with what was judged as well`() {
    var bench = bench()
    bench.begin()
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.followUp == .now)
    bench.launch()
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.waitForRun() == nil)
  }

  @Test func `a path with the same content again is not part of later runs`() {
    var bench = bench()
    bench.begin()
    bench.write("/p/log", "1", .interruptible)
    bench.begin()
    bench.report([.of("/p/log", .modified)], .interruptible)
    #expect(bench.waitForRun() == nil)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a command that writes the same bytes again restarts once`() {
    var bench = bench()
    var restarts = 0
    bench.begin()
    repeat {
      bench.now += .milliseconds(100)
      bench.write([("/p/log", "same"), ("/p/new", "same")], .interruptible)
      if bench.followUp == .now {
        restarts += 1
        bench.begin()
      }
    } while bench.followUp == .now && restarts < 9
    #expect(restarts == 1)
  }

  @Test func `an edit before the start that is reported after it and then undone is owed a run`() {
    var bench = bench()
    bench.begin()
    bench.write("/p/log", "1", .interruptible)
    // Saved, but not reported yet.
    bench.files["/p/log"] = .text("saved")
    bench.begin()
    bench.report([.of("/p/log", .modified)], .interruptible)
    bench.now += .milliseconds(100)
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.run == ["/p/log"])
  }

  /// As `sleep 0.3; cp a.c a.o; exec ./server` does.
  @Test(arguments: [300, 900])
  func `what a run writes again at the same time, unchanged, is an output`(
    milliseconds: Int
  ) throws {
    var bench = bench()
    for number in 1...2 {
      bench.write("/p/a", "\(number)", .interruptible)
      bench.begin()
      bench.now += .milliseconds(300)
      bench.write("/p/log", "\(number)", .interruptible)
      let delay = bench.waitForRun()
      #expect(try #require(delay) <= .milliseconds(250))
      bench.begin()
      bench.now += .milliseconds(milliseconds)
      bench.write("/p/log", "\(number)", .interruptible)
      bench.now += .seconds(3)
    }
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.judge.isProved("/p/log") == (milliseconds == 300))
  }

  /// As `date > stamp` does, in runs that are restarted for other reasons twice a second.
  @Test func `what each run writes, and what differs only now and then, is delayed as well`() {
    var bench = bench()
    let delays = (0..<24).map { number in
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "\(number / 2)", .interruptible)
      return bench.waitForRun() ?? .zero
    }
    #expect(delays[16...].contains { $0 >= Suspicion.Rules.noticed })
  }

  /// Otherwise the change after the start would follow the change before as well.
  @Test func `a test is not cut short by another path that changes at the same time`() {
    var bench = bench()
    for number in 0..<12 { bench.files[Path("/p/other\(number)")] = .text("before") }
    for number in 0..<12 {
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write([("/p/log", "\(number)"), (Path("/p/other\(number)"), "x")], .interruptible)
      _ = bench.waitForRun()
    }
    #expect(bench.judge.records["/p/log"]?.suspicion.isProved == true)
  }

  /// As a build that writes a stamp does, beside its server: several starts for one follow-up, so that all of them
  /// would be tested for long, or none.
  @Test func `a third of the follow-ups are not tested, whatever begins meanwhile`() {
    var bench = bench()
    let delays = (0..<12).map { number in
      for _ in 0..<5 { bench.begin() }
      bench.now += .milliseconds(500)
      bench.write("/p/log", "\(number)", .interruptible)
      return bench.waitForRun() ?? .zero
    }
    #expect(delays.last ?? .zero >= Suspicion.Rules.noticed)
  }

  /// As a server does that writes a log at each request.
  @Test func `what changes at each of many requests is named, and leads to fewer starts`() {
    var bench = bench()
    var (delays, loops) = ([Duration](), [FeedbackLoop]())
    var random = SeededGenerator(seed: 1)
    for number in 0..<80 {
      bench.begin()
      bench.now += .milliseconds(Int.random(in: 100...400, using: &random))
      for request in 0..<3 {
        bench.now += .milliseconds(100)
        bench.write("/p/log", "\(number) \(request)", .interruptible)
        loops += bench.loops
      }
      // Requests go on during the delay.
      let start = bench.now
      while let due = bench.judge.due, due > (bench.now + .milliseconds(100)).asInstant {
        bench.now += .milliseconds(100)
        bench.write("/p/log", "\(bench.now)", .interruptible)
        loops += bench.loops
      }
      _ = bench.waitForRun()
      delays.append(bench.now - start)
    }
    #expect(loops.map(\.path) == ["/p/log"])
    #expect(delays[75...].allSatisfy { $0 >= .milliseconds(3000) })
    // A person saves another file.
    bench.begin()
    bench.now += .milliseconds(300)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.waitForRun() ?? .zero <= .seconds(1))
  }

  /// As `rm -r` of a directory does, of which nothing is known.
  @Test func `many changes at once are no loop`() {
    var bench = bench()
    bench.begin()
    bench.now += .seconds(1)
    bench.report((0..<600).map { .of(Path("/p/src/\($0)"), .removed) }, .interruptible)
    #expect(bench.followUp == .now && bench.loops.isEmpty)
  }

  /// Its second change does not end the test.
  @Test func `a test goes on when something else changes`() {
    var bench = bench()
    for number in 0..<4 {
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "\(number)", .interruptible)
      if number == 3 {
        #expect(bench.followUp == .after(Suspicion.Rules.test.least))
        bench.now += .milliseconds(100)
        bench.write("/p/log", "more", .interruptible)
        #expect(bench.followUp == .after(Suspicion.Rules.test.least - .milliseconds(100)))
      }
    }
  }

  /// As the server of a build does that starts when the build has ended, while the next one is delayed.
  @Test func `a start of another task in between makes no difference`() {
    var bench = bench()
    let delays = (0..<12).map { number in
      bench.begin()
      bench.now += .seconds(2)
      bench.write("/p/stamp", "\(number)", .interruptible)
      bench.launch(isRestart: true)
      return bench.waitForRun() ?? .zero
    }
    #expect(delays.last ?? .zero >= Suspicion.Rules.noticed)
  }

  @Test func `a file is saved long after a start, though it followed earlier ones`() {
    var bench = bench()
    for count in 0..<30 {
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "#\(count)", .interruptible)
      _ = bench.waitForRun()
    }
    bench.begin()
    bench.now += .seconds(300)
    bench.write("/p/log", "saved", .interruptible)
    #expect(bench.followUp == .now)
  }

  /// Each save is followed by the write of a formatter, while the server takes a second to stop.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `what is written while a service is stopped does not make a person a loop`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bench = bench()
    var (stopEnds, waiting): (Duration?, [Duration]) = (nil, [])
    var waits: [Duration] = []
    func restart() {
      waits += waiting.map { bench.now - $0 }
      waiting = []
      bench.request()
      stopEnds = bench.now + .seconds(1)
    }
    bench.begin()
    var save = Duration.zero
    for count in 0..<100 {
      save += .seconds(Double.random(in: 2.28...2.32, using: &generator))
      for time in [save, save + .milliseconds(300)] {
        if let end = stopEnds, end <= time {
          bench.now = end
          bench.launch()
          stopEnds = nil
        } else if case .after(let delay) = bench.followUp, bench.now + delay <= time {
          bench.waitForDelay()
          if bench.followUp == .now { restart() }
        }
        bench.now = time
        if stopEnds == nil { waiting.append(time) }
        bench.write("/p/log", "#\(count) \(time)", stopEnds == nil ? .interruptible : .stopping)
        if bench.followUp == .now && stopEnds == nil { restart() }
      }
    }
    #expect(waits.prefix(30).allSatisfy { $0 <= .seconds(1) })
    #expect(waits.count > 90 && waits.allSatisfy { $0 <= .seconds(4) }, "\(waits)")
  }

  // MARK: Evidence

  @Test func `a change that no process of the run can have made restarts it at once, always`() {
    let delays = delays(.others, count: 60) { .milliseconds(300 + 400 * ($0 % 5)) }
    #expect(delays.allSatisfy { $0 == .zero })
  }

  /// A server of builds, which is no descendant of the run, writes at its request.
  @Test func `of those that come at the same time after each start, four more are not delayed`() {
    let delays = delays(.others, count: 30)
    #expect(delays[..<7].allSatisfy { $0 == .zero } && delays[20...].allSatisfy { $0 > .zero })
    #expect(delays.last ?? .zero >= Suspicion.Rules.noticed)
  }

  @Test func `where nothing is known, what follows the start is delayed by the law`() {
    #expect(delays(.unknown) == Self.law(20))
  }

  @Test func `where nothing is known, what does not follow the start is never delayed for long`() {
    let offsets = [300, 700, 1100, 1500, 1900]
    let delays = delays(.unknown, count: 100) { .milliseconds(offsets[$0 % offsets.count]) }
    #expect(delays[..<30].allSatisfy { $0 <= .seconds(1) })
    #expect(delays.allSatisfy { $0 <= Suspicion.Rules.noticed })
  }

  @Test func `new names in one directory count for the directory`() {
    #expect(delays(.unknown, writing: { Path("/p/out/\($0)") }) == Self.law(20))
  }

  @Test func `ten paths in turn restart it once a second at most`() {
    let delays = delays(.unknown, count: 99, writing: { Path("/q/\($0 % 10)") })
    #expect(delays.count { $0 == .zero } <= 18)
    #expect(delays.last ?? .zero >= .seconds(1))
  }

  /// The component has a service as well, which does nothing.
  @Test func `saves at any time in runs that end by themselves are hardly delayed`() {
    for seed in 1...5 as ClosedRange<UInt64> {
      var (bench, random) = (bench(), SeededGenerator(seed: seed))
      bench.evidence = ["/p/a": .others]
      for count in 0..<60 {
        bench.begin()
        let time = Duration.milliseconds(Int.random(in: 0..<1000, using: &random))
        // A build, then a test.
        let isInBuild = Bool.random(using: &random)
        if isInBuild { bench.now += time } else { bench.now += .seconds(1) }
        if !isInBuild {
          bench.launch(isRestart: true)
          bench.now += time
        }
        bench.write("/p/a", "#\(seed) \(count)")
        if isInBuild {
          bench.now += .seconds(1) - time
          bench.launch(isRestart: true)
          bench.now += time
        }
        bench.end(after: .seconds(1) - time, isLive: true)
        let delay = bench.waitForRun(most: 9) ?? .seconds(1000)
        #expect(delay <= .seconds(count < 30 ? 1 : 4), "save \(count) of \(seed)")
      }
    }
  }

  @Test func `a change later than a minute after the start does not count`() {
    #expect(delays(.unknown) { _ in .milliseconds(60_001) }.allSatisfy { $0 == .zero })
    #expect(delays(.unknown) { _ in .seconds(60) }.last == Suspicion.Rules.noticed)
    #expect(delays(.unknown) { _ in .seconds(10) }.last == Suspicion.Rules.noticed)
    #expect(delays(.unknown) { .seconds(11 + $0 % 3) }.allSatisfy { $0 <= .seconds(1) })
    var bench = bench()
    for count in 0..<5 {
      bench.begin()
      bench.now += .seconds(1)
      bench.write("/p/log", "#\(count)", .interruptible)
    }
    bench.begin()
    bench.now += .seconds(61)
    bench.evidence["/p/log"] = .others
    bench.write("/p/log", "saved", .interruptible)
    #expect(bench.judge.repetitions.isEmpty)
  }

  // MARK: Delayed restarts

  /// A bench whose restart for `/p/log` is delayed by 8 s.
  private func delayed() -> ChangeJudgeBench {
    var bench = bench()
    for count in 0..<11 {
      _ = bench.waitForRun()
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "#\(count)", .interruptible)
    }
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    return bench
  }

  @Test func `the end of a delay flushes first, and the changes found are judged with the rest`() {
    var bench = delayed()
    guard case .after(let delay) = bench.followUp, let generation = bench.generation else {
      Issue.record("nothing is delayed")
      return
    }
    bench.now += delay
    let read = bench.judge.elapsed(generation: generation)
    #expect(read == [.flush(generation: generation + 1)])
    #expect(bench.judge.isFlushing)
    bench.now += .milliseconds(1)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.actions.isEmpty)
    bench.actions = read
    bench.answer()
    #expect(bench.run == ["/p/log", "/p/a"])
    #expect(bench.begin() == ["/p/log", "/p/a"])
  }

  @Test func `a change during the delay that others are proved to make ends it`() {
    var bench = delayed()
    bench.now += .milliseconds(300)
    bench.evidence = ["/p/log": .others]
    bench.write("/p/log", "saved", .interruptible)
    #expect(bench.run == ["/p/log"])
    #expect(bench.judge.editedPaths == ["/p/log"])
  }

  @Test(arguments: [Verdict.unknown, .run])
  func `any other change during the delay waits for its end`(evidence: Verdict) {
    var bench = delayed()
    bench.now += .milliseconds(300)
    bench.evidence = ["/p/log": evidence]
    bench.write("/p/log", "again", .interruptible)
    #expect(bench.followUp == .after(Suspicion.Rules.noticed - .milliseconds(300)))
  }

  @Test func `after others have proved to change a delayed path, its row begins anew`() {
    var bench = delayed()
    bench.now += .milliseconds(300)
    bench.evidence = ["/p/log": .others]
    bench.write("/p/log", "saved", .interruptible)
    bench.evidence = [:]
    let delays = (0..<14).compactMap { count in
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "start \(count)", .interruptible)
      return bench.waitForRun()
    }
    #expect(delays[..<3].allSatisfy { $0 == .zero })
    #expect(delays.last == Suspicion.Rules.noticed)
  }

  @Test func `the first long pause is announced`() {
    var bench = bench()
    var announced: [Int] = []
    for count in 0..<14 {
      _ = bench.waitForRun()
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "#\(count)", .interruptible)
      if bench.loops.map(\.path) == ["/p/log"] { announced.append(count) }
      #expect(bench.loops.allSatisfy { !$0.isEdited && $0.delay == Suspicion.Rules.noticed })
    }
    #expect(announced == [7])
  }

  @Test func `a run that lasted only as long as the change took proves nothing`() {
    var bench = delayed()
    bench.waitForDelay()
    bench.begin()
    bench.now += .milliseconds(700)
    bench.write("/p/a", "saved", .interruptible)
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "once more", .interruptible)
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
  }

  @Test func `a run that lasted 1.5 times as long without the change ends its row`() {
    var bench = delayed()
    bench.waitForDelay()
    bench.begin()
    bench.now += .milliseconds(800)
    bench.evidence["/p/a"] = .others
    bench.write("/p/a", "saved", .interruptible)
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "once more", .interruptible)
    #expect(bench.followUp == .now)
  }

  @Test func `another path does not wait for the delay of the first`() {
    var bench = delayed()
    bench.now += .milliseconds(100)
    bench.evidence["/p/a"] = .others
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.run == ["/p/a", "/p/log"])
    #expect(bench.begin() == ["/p/log", "/p/a"])
  }

  @Test func `another path whose writer is unknown waits for no test that others have failed`() {
    var bench = delayed()
    bench.now += .milliseconds(100)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.waitForRun() ?? .seconds(9) <= .seconds(1))
  }

  @Test func `a run that is owed still starts after the run ended by itself`() {
    var bench = delayed()
    let due = bench.now + Suspicion.Rules.noticed
    bench.end(after: .milliseconds(500))
    bench.waitForDelay()
    #expect(bench.now == due)
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a run that became due during the flush starts after it`() {
    var bench = delayed()
    let timer = bench.generation ?? 0
    bench.actions = bench.judge.workEnded()
    let read = bench.actions
    bench.now += .seconds(32)
    bench.elapse(timer)
    bench.actions = read
    bench.answer()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a change of a run that is being stopped is passed to the next one`() {
    var bench = bench()
    bench.begin()
    bench.now += .seconds(3)
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.run == ["/p/a"])
    bench.write("/p/log", "at its end", .running)
    #expect(bench.actions.isEmpty)
    #expect(bench.begin() == ["/p/a", "/p/log"])
    // It began with that.
    bench.now += .milliseconds(100)
    bench.write("/p/log", "at its end", .interruptible)
    #expect(bench.waitForRun() == nil)
  }

  @Test func `processes are looked at while a path is suspected`() {
    var bench = bench()
    bench.begin()
    #expect(!bench.judge.suspectsRuns)
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.judge.suspectsRuns)
    // No look helps when it is known.
    #expect(!delayed().judge.records["/p/log", default: ChangeJudge.Record()].suspicion.isSuspected)
  }

  // MARK: Services

  @Test func `a service that writes when it is ready is delayed, although its round was read`() {
    var bench = bench()
    let followUps = (0..<13).map { count in
      bench.begin()
      bench.end(after: .milliseconds(500), isLive: true)
      #expect(bench.followUp == .none)
      bench.write(Path("/p/out/\(count)"), "#", .interruptible)
      let followUp = bench.followUp
      bench.waitForDelay()
      return followUp
    }
    #expect(followUps == Self.law(13).map { $0 == .zero ? .now : .after($0) })
  }

  @Test func `the end of the work beside a run that goes on does not end the row`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(2) { [("/p/log", "#\($0)")] }
    bench.begin()
    bench.end(after: .zero, isLive: true)
    #expect(!bench.judge.hasEnded)
    #expect(bench.judge.repetitions == ["/p/log": 2])
  }
}
