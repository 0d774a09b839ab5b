import FileObservation
import Testing

@testable import ActionRunning

/// The consequences of a change during a run that it restarts or signals, during a build, and while
/// other runs are active.
struct RoundsLiveTests {
  private typealias FollowUp = RoundsBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  private func bench() -> RoundsBench { RoundsBench(isLive: true, Self.files) }

  /// A bench whose run waits, since 0.1 s after its start, to be restarted 4 s after it for `/p/log`,
  /// which was edited while nothing ran.
  private func delayed() -> RoundsBench {
    var bench = bench()
    bench.write("/p/log", "edited", .idle)
    var count = 0
    repeat {
      bench.waitForDelay()
      bench.begin()
      bench.now += .milliseconds(100)
      count += 1
      bench.write("/p/log", "#\(count)", .live)
    } while bench.followUp != .after(.milliseconds(3900)) && count < 9
    return bench
  }

  // MARK: Runs that a change restarts

  /// The ages at which twenty runs are restarted. Each writes 0.5 s after its start.
  private func ages(writing path: (Int) -> Path) -> [Duration?] {
    var bench = bench()
    for number in 0..<10 { bench.files[Path("/q/\(number)")] = .text("before") }
    return (0..<20).map { number in
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write(path(number), "#\(number)", .live)
      return bench.waitForRun().map { .milliseconds(500) + $0 }
    }
  }

  private static let atOnce = Duration.milliseconds(500)

  @Test func `a change is judged when it is reported`() {
    var bench = bench()
    bench.begin()
    bench.now += .milliseconds(100)
    bench.write("/p/log", "1", .live)
    #expect(bench.run == ["/p/log"])
    bench.begin()
    bench.now += .milliseconds(100)
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a run in the middle of a round begins with what was judged as well`() {
    var bench = bench()
    bench.begin()
    bench.write("/p/log", "1", .live)
    #expect(bench.followUp == .now)
    bench.launch()
    bench.write("/p/log", "1", .live)
    #expect(bench.waitForRun() == nil)
  }

  @Test func `a path with the same content again is not part of later runs`() {
    var bench = bench()
    bench.begin()
    bench.write("/p/log", "1", .live)
    bench.begin()
    bench.report([.of("/p/log", .modified)], .live)
    #expect(bench.waitForRun() == nil)
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `restarts for new names in one directory are due 1, 2, 4 s after the start`() {
    let ages = ages { Path("/p/out/\($0)") }
    #expect(ages[..<3].allSatisfy { $0 == Self.atOnce })
    #expect(ages[3..<8].elementsEqual([1, 2, 4, 8, 16].map { .seconds($0) }))
  }

  @Test func `restarts for an output are due at 2 s at the earliest, and then at 4, 8, 16 s`() {
    let ages = ages { _ in "/p/log" }
    #expect(ages[0] == Self.atOnce)
    #expect(ages[1..<8].elementsEqual([2, 2, 2, 2, 4, 8, 16].map { .seconds($0) }))
  }

  @Test func `restarts for ten paths in turn are delayed after five more than for one path`() {
    let ages = ages { Path("/q/\($0 % 10)") }
    #expect(ages[..<8].allSatisfy { $0 == Self.atOnce })
    #expect(ages[8..<14].elementsEqual([1, 2, 4, 8, 16, 32].map { .seconds($0) }))
  }

  @Test func `a command that writes the same bytes again restarts once`() {
    var bench = bench()
    var restarts = 0
    bench.begin()
    repeat {
      bench.now += .milliseconds(100)
      bench.write([("/p/log", "same"), ("/p/new", "same")], .live)
      if bench.followUp == .now {
        restarts += 1
        bench.begin()
      }
    } while bench.followUp == .now && restarts < 9
    #expect(restarts == 1)
  }

  @Test func `a change is attributed to others more than 2 s after the start, and not before`() {
    var bench = delayed()
    bench.now += .milliseconds(1900)
    bench.write("/p/log", "at 2 s", .live)
    #expect(bench.followUp == .after(.seconds(2)))
    bench.now += .milliseconds(1)
    bench.write("/p/log", "later", .live)
    #expect(bench.run == ["/p/log"])
    // After five consecutive restarts.
    bench.begin()
    #expect(bench.rounds.depth == 0)
    bench.now += .milliseconds(100)
    bench.write("/p/log", "again", .live)
    #expect(bench.followUp == .now)
  }

  @Test func `the time since the start counts from the latest run of a round`() {
    var bench = bench()
    bench.begin()
    bench.now += .seconds(10)
    bench.launch()
    bench.now += .seconds(2)
    bench.write("/p/log", "soon", .live)
    #expect(bench.run == ["/p/log"] && bench.rounds.editedPaths.isEmpty)
    bench.now += .milliseconds(1)
    bench.write("/p/log", "later", .live)
    #expect(bench.rounds.editedPaths == ["/p/log"])
  }

  @Test func `five quick saves of a person delay nothing noticeably`() {
    var bench = bench()
    bench.begin()
    bench.now += .seconds(60)
    var delays: [FollowUp] = []
    for count in 0..<5 {
      bench.write("/p/a", "save \(count)", .live)
      delays.append(bench.followUp)
      bench.waitForDelay()
      bench.begin()
      bench.now += .milliseconds(600)
    }
    #expect(delays == [.now, .now, .now, .now, .after(.milliseconds(400))])
  }

  @Test func `another path does not wait for the delay of the first`() {
    var bench = delayed()
    #expect(bench.followUp == .after(.milliseconds(3900)))
    bench.now += .seconds(1)
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/log", "/p/a"])
  }

  @Test func `a run that is owed still starts after the run ended by itself`() {
    var bench = delayed()
    let due = bench.now + .milliseconds(3900)
    bench.end()
    bench.waitForDelay()
    #expect(bench.now == due)
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a run that became due during the flush starts after it`() {
    var bench = delayed()
    let timer = bench.generation ?? 0
    bench.actions = bench.rounds.workEnded()
    let read = bench.actions
    bench.now += .seconds(4)
    bench.elapse(timer)
    bench.actions = read
    bench.answer()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `a change of a run that is being stopped is passed to the next one`() {
    var bench = bench()
    bench.begin()
    bench.now += .seconds(3)
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/a"])
    bench.write("/p/log", "at its end", .running)
    #expect(bench.actions.isEmpty)
    #expect(bench.begin(isFollowUp: true) == ["/p/a", "/p/log"])
    // It began with that.
    bench.now += .milliseconds(100)
    bench.write("/p/log", "at its end", .live)
    #expect(bench.waitForRun() == nil)
  }

  @Test func `the first run has a start time, or a change is attributed to others`() {
    var bench = bench()
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/a"])
  }

  // MARK: Builds

  @Test func `a build is worthless once a path changes that the build before did not write`() {
    var bench = RoundsBench(Self.files)
    #expect(bench.round([("/p/log", "1")]) == .now)
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.actions.isEmpty)
    bench.write("/p/a", "saved", .building)
    #expect(bench.run == ["/p/log", "/p/a"])
  }

  @Test func `a path that the build before wrote as well is judged at the end`() {
    var bench = RoundsBench(Self.files)
    #expect(bench.round([("/p/log", "1")]) == .now)
    bench.begin()
    bench.write("/p/log", "2", .building)
    bench.end()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `new names that each build makes stop it three times`() {
    var bench = RoundsBench(Self.files)
    var stops = 0
    for count in 0..<6 {
      bench.begin()
      bench.write(Path("/p/obj/\(count)"), "o", .building)
      if bench.followUp == .now { stops += 1 } else { bench.end() }
      bench.waitForDelay()
    }
    #expect(stops == 3)
  }

  // MARK: Other runs

  @Test func `a change while others run leads to a run at once, as a follow-up of theirs`() {
    var bench = RoundsBench(Self.files)
    _ = bench.round()
    bench.write("/p/a", "saved", .othersRunning(depth: 2))
    #expect(bench.run == ["/p/a"])
    bench.begin()
    #expect(bench.rounds.depth == 3)
  }

  @Test func `eight saves while others run, with a round after each, delay nothing`() {
    var bench = RoundsBench(Self.files)
    _ = bench.round()
    for count in 0..<8 {
      bench.write("/p/a", "save \(count)", .othersRunning(depth: 0))
      #expect(bench.run == ["/p/a"])
      #expect(bench.round() == .none)
      #expect(bench.rounds.followUpCounts.isEmpty && bench.rounds.depth == 1)
    }
  }

  @Test func `saves while others run without a round after each are consecutive`() {
    var bench = RoundsBench(Self.files)
    _ = bench.round()
    var followUps: [FollowUp] = []
    for count in 0..<5 {
      bench.write("/p/a", "save \(count)", .othersRunning(depth: 0))
      followUps.append(bench.followUp)
      bench.waitForDelay()
    }
    #expect(followUps == FollowUp.seconds(0, 0, 0, 4, 8))
  }

  // MARK: Services

  @Test
  func
    `a service that writes when it is ready has a series of follow-ups, although its round was read`()
  {
    var bench = RoundsBench(Self.files)
    var followUps: [FollowUp] = []
    for count in 0..<5 {
      bench.begin()
      bench.end(after: .milliseconds(500), isLive: true)
      #expect(bench.followUp == .none)
      bench.write(Path("/p/out/\(count)"), "#", .live)
      followUps.append(bench.followUp)
      bench.waitForDelay()
    }
    let delays = [0.5, 1.5].map { FollowUp.after(.seconds($0)) }
    #expect(followUps == [.now, .now, .now] + delays)
  }

  @Test(arguments: [false, true])
  func `a count is reset at the end of a round that left its path unchanged`(isLive: Bool) {
    var bench = RoundsBench(Self.files)
    _ = bench.rounds(2) { [("/p/log", "#\($0)")] }
    bench.begin()
    bench.end(isLive: isLive)
    #expect(bench.rounds.followUpCounts == (isLive ? ["/p/log": 2] : [:]))
    bench.begin(isFollowUp: true)
    #expect(bench.rounds.followUpCounts.isEmpty)
  }

  @Test func `the same bytes while others run are owed nothing`() {
    var bench = RoundsBench(Self.files)
    #expect(bench.rounds(2) { _ in [("/p/a", "b")] } == [.now, .none])
    bench.write("/p/a", "b", .othersRunning(depth: 0))
    #expect(bench.actions == [.forgive(["/p/a"])])
    bench.write("/p/a", "c", .othersRunning(depth: 0))
    #expect(bench.followUp == .now)
  }

  @Test func `tasks that change each other's files come to rest`() {
    var benches = [RoundsBench(Self.files), RoundsBench(Self.files)]
    var delays: [FollowUp] = []
    benches[0].begin()
    var count = 0
    while delays.last != .after(.seconds(64)) && count < 40 {
      let (runner, other) = (count % 2, 1 - count % 2)
      // Each time another file, so that no count of one path delays it.
      let path = Path("/p/\(count % 9)")
      benches[other].files[path] = .text("0")
      benches[other].write(path, "#\(count)", .othersRunning(depth: benches[runner].rounds.depth))
      delays.append(benches[other].followUp)
      benches[other].waitForDelay()
      benches[other].begin()
      count += 1
    }
    #expect(delays == FollowUp.seconds(0, 0, 0, 0, 0, 0, 4, 8, 16, 32, 64))
  }
}
