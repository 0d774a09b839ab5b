import FileObservation
import Testing

@testable import ActionRunning

/// The consequences of a change during a run that it restarts or signals, during a build, and while
/// other runs are active.
struct RoundsLiveTests {
  private typealias FollowUp = RoundsBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  private func bench() -> RoundsBench { RoundsBench(isLive: true, Self.files) }

  /// The times that twenty runs wait to be restarted. Each changes paths at this time after its start.
  private func delays(
    _ evidence: Evidence, at offset: (Int) -> Duration = { _ in .milliseconds(500) },
    writing path: (Int) -> Path = { _ in "/p/log" }
  ) -> [Duration] {
    var bench = bench()
    for number in 0..<10 { bench.files[Path("/q/\(number)")] = .text("before") }
    return (0..<20).map { number in
      bench.begin()
      bench.now += offset(number)
      bench.evidence = [path(number): evidence]
      bench.write(path(number), "#\(number)", .live)
      return bench.waitForRun() ?? .seconds(-1)
    }
  }

  /// Two tests, and then longer and longer delays.
  private static let backingOff = [0.15, 0.25, 1, 8, 64, 512, 600, 600].map { Duration.seconds($0) }

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

  // MARK: Evidence

  @Test func `a change that no process of the run can have made restarts it at once, always`() {
    let delays = delays(.innocent) { .milliseconds(300 + 400 * ($0 % 5)) }
    #expect(delays.allSatisfy { $0 == .zero })
  }

  /// A server of builds, which is no descendant of the run, writes at its request.
  @Test func `one that comes at the same time after each start is delayed nevertheless`() {
    let delays = delays(.innocent)
    #expect(delays[..<2].allSatisfy { $0 == .zero })
    let tests = [Self.backingOff[0]] + Array(repeating: Self.backingOff[1], count: 7)
    #expect(delays[2..<10].elementsEqual(tests))
    #expect(delays[10..<16].elementsEqual(Self.backingOff[2...]))
  }

  @Test func `where nothing is known, the same time after each start delays the third change`() {
    let delays = delays(.none)
    #expect(delays[..<2].allSatisfy { $0 == .zero })
    #expect(delays[2..<10].elementsEqual(Self.backingOff))
  }

  @Test func `a path that changes whenever a run writes that seldom does is tested once`() {
    let delays = delays(.wrote(bits: 5)) { .milliseconds(300 + 200 * ($0 % 5)) }
    #expect(delays[..<2] == [.zero, Self.backingOff[0]])
    #expect(delays[2..<8].elementsEqual(Self.backingOff[2...]))
  }

  @Test func `beside a run that often writes, the time after the start must be the same as well`() {
    let delays = delays(.wrote(bits: 1))
    #expect(delays[..<2].allSatisfy { $0 == .zero })
    #expect(delays[2..<10].elementsEqual(Self.backingOff))
  }

  @Test func `a path that the run has open for writing is delayed the first time`() {
    let delays = delays(.open)
    // A path that runs write is held for a moment before it is judged.
    for (delay, expected) in zip(delays, Self.backingOff) {
      #expect(delay >= expected && delay < expected + .milliseconds(500))
    }
  }

  @Test func `new names in one directory count for the directory`() {
    let delays = delays(.wrote(bits: 5), writing: { Path("/p/out/\($0)") })
    #expect(delays[0] == .zero)
    #expect(delays[1..<9].elementsEqual(Self.backingOff))
  }

  @Test func `a path that changes at different times after the starts is not delayed`() {
    for evidence in [Evidence.wrote(bits: 0.5), .none] {
      let delays = delays(evidence) { .milliseconds(300 + 400 * ($0 % 5)) }
      #expect(delays.allSatisfy { $0 < .milliseconds(500) })
    }
  }

  /// A person who saves at an even pace: the test moves the start, and not the save.
  @Test func `a change that is not delayed with the run is by others`() {
    var bench = bench()
    bench.evidence = ["/p/a": .wrote(bits: 1)]
    var waits: [Duration] = []
    var wait = Duration.zero
    for number in 0..<40 {
      bench.begin()
      bench.now += .seconds(1) - wait
      bench.write("/p/a", "save \(number)", .live)
      wait = bench.waitForRun() ?? .seconds(9)
      waits.append(wait)
    }
    #expect(waits.max() == .milliseconds(150))
    #expect(bench.rounds.editedPaths == ["/p/a"])
  }

  @Test func `ten paths in turn are ten paths`() {
    #expect(
      delays(.none, writing: { Path("/q/\($0 % 10)") }).allSatisfy { $0 <= .milliseconds(250) })
  }

  /// A bench whose restart for `/p/log` is delayed by 1 s.
  private func delayed() -> RoundsBench {
    var bench = bench()
    bench.evidence = ["/p/log": .wrote(bits: 2)]
    for count in 0..<4 {
      bench.begin()
      bench.now += .milliseconds(500)
      bench.write("/p/log", "#\(count)", .live)
    }
    return bench
  }

  @Test func `a second change during the delay is by others, unless the run wrote again`() {
    for (evidence, isOthers) in [
      (Evidence.wrote(bits: 1), true), (.innocent, true), (.wrote(bits: 5), false), (.open, false),
      (.none, false),
      (.unknownTime, false), (.before, false),
    ] {
      var bench = delayed()
      #expect(bench.followUp == .after(.seconds(1)))
      bench.now += .milliseconds(300)
      bench.evidence = ["/p/log": evidence]
      bench.write("/p/log", "again", .live)
      #expect(bench.followUp == (isOthers ? .now : .after(.milliseconds(700))))
      #expect(bench.rounds.editedPaths.contains("/p/log") == isOthers)
    }
  }

  @Test func `a change at a multiple of the time after the start may be the run's`() {
    var bench = delayed()
    bench.evidence = ["/p/log": .wrote(bits: 1)]
    bench.now += .milliseconds(500)
    bench.write("/p/log", "again", .live)
    #expect(bench.followUp == .after(.milliseconds(500)))
  }

  @Test func `after others have proved to change a path, the next saves are not delayed`() {
    var bench = delayed()
    bench.now += .milliseconds(300)
    bench.evidence = ["/p/log": .wrote(bits: 1)]
    bench.write("/p/log", "again", .live)
    for count in 0..<6 {
      #expect(bench.followUp == .now)
      bench.begin()
      bench.now += .milliseconds(1000)
      bench.write("/p/log", "save \(count)", .live)
    }
  }

  @Test func `the second delay is announced, and the first one is not`() {
    var bench = delayed()
    #expect(bench.loops.isEmpty)
    bench.waitForDelay()
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "once more", .live)
    #expect(bench.loops.map(\.path) == ["/p/log"])
    #expect(bench.loops.map(\.isEdited) == [false])
  }

  @Test func `a run that ends before it could change the path proves nothing`() {
    var bench = delayed()
    bench.waitForDelay()
    bench.begin()
    bench.now += .milliseconds(100)
    bench.write("/p/a", "saved", .live)
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "once more", .live)
    #expect(bench.followUp == .after(.seconds(8)))
  }

  @Test func `a run that leaves the path unchanged resets its count`() {
    var bench = delayed()
    bench.waitForDelay()
    bench.begin()
    bench.now += .seconds(60)
    bench.write("/p/a", "saved", .live)
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "once more", .live)
    #expect(bench.followUp == .now)
  }

  @Test func `processes are looked at twice, and again and again while a path is suspected`() {
    func pause(_ number: Int, after time: Duration, in bench: RoundsBench) -> Duration? {
      bench.rounds.pauseBeforeLook(number, at: (bench.now + time).asInstant)
    }
    var silent = bench()
    silent.begin()
    #expect(pause(0, after: .zero, in: silent) == .milliseconds(50))
    #expect(pause(1, after: .milliseconds(50), in: silent) == .milliseconds(250))
    #expect(pause(2, after: .milliseconds(300), in: silent) == nil)
    var suspicious = delayed()
    suspicious.begin()
    let times: [Duration] = [.zero, .seconds(1), .seconds(10), .seconds(100)]
    #expect(
      times.map { pause(9, after: $0, in: suspicious) }
        == [50, 100, 400, 2000].map { Duration.milliseconds($0) })
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

  @Test func `another path does not wait for the delay of the first`() {
    var bench = delayed()
    bench.now += .milliseconds(100)
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/log", "/p/a"])
  }

  @Test func `a run that is owed still starts after the run ended by itself`() {
    var bench = delayed()
    let due = bench.now + .seconds(1)
    bench.end(after: .milliseconds(500))
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

  // MARK: Builds

  @Test func `a change during a build is judged at its end`() {
    var bench = RoundsBench(Self.files)
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.actions.isEmpty)
    bench.end()
    #expect(bench.run == ["/p/log"])
  }

  @Test func `only a path that was edited, and that no run has changed, stops a build`() {
    var bench = RoundsBench(Self.files)
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

  @Test func `what a build changes is not edited because another change stops the build`() {
    var bench = RoundsBench(Self.files)
    bench.begin()
    bench.evidence["/p/a"] = .innocent
    bench.write([("/p/a", "saved"), ("/p/log", "2")], .building)
    #expect(bench.run == ["/p/a"])
    bench.begin()
    bench.write("/p/log", "3", .building)
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that the build may have changed stops it once`() {
    var bench = RoundsBench(Self.files)
    bench.write("/p/log", "edited", .idle)
    bench.begin()
    bench.write("/p/log", "2", .building)
    #expect(bench.run == ["/p/log"])
    bench.begin()
    bench.write("/p/log", "3", .building)
    #expect(bench.actions.isEmpty)
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

  @Test func `a service that writes when it is ready is delayed, although its round was read`() {
    var bench = RoundsBench(isLive: true, Self.files)
    var followUps: [FollowUp] = []
    for count in 0..<5 {
      bench.begin()
      bench.end(after: .milliseconds(500), isLive: true)
      #expect(bench.followUp == .none)
      bench.write(Path("/p/out/\(count)"), "#", .live)
      followUps.append(bench.followUp)
      bench.waitForDelay()
    }
    #expect(
      followUps == [
        .now, .now, .after(.milliseconds(150)), .after(.milliseconds(250)), .after(.seconds(1)),
      ])
  }

  @Test(arguments: [false, true])
  func `a count is reset at the end of a round that left its path unchanged`(isLive: Bool) {
    var bench = RoundsBench(Self.files)
    _ = bench.rounds(2) { [("/p/log", "#\($0)")] }
    bench.begin()
    bench.end(isLive: isLive)
    #expect(bench.rounds.followUpCounts == (isLive ? ["/p/log": 1] : [:]))
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
    #expect(delays == FollowUp.seconds(0, 0, 0, 0, 0, 0, 0, 4, 8, 16, 32, 64))
  }
}
