import FileObservation
import Testing

@testable import ActionRunning

/// The judging of paths that changed in the round before as well: when the run has settled, and
/// everything until then has been reported.
struct RoundsSettlingTests {
  /// A bench 0.1 s after the start of a run, where the run before wrote "1" to `/p/o` at once.
  private func linking() -> RoundsBench {
    var bench = RoundsBench(isLive: true, ["/p/a": "a", "/p/o": "0"])
    bench.begin()
    bench.write("/p/o", "1", .live)
    bench.begin()
    bench.now += .milliseconds(100)
    return bench
  }

  /// The same after runs that made a new name in `/p/out` each as well, and were restarted for that.
  private func linking(restarts: Int) -> RoundsBench {
    var bench = RoundsBench(isLive: true, ["/p/a": "a", "/p/o": "0"])
    for count in 0..<restarts {
      bench.waitForDelay()
      bench.begin()
      bench.write([("/p/o", "1"), (Path("/p/out/\(count)"), "#")], .live)
    }
    bench.waitForDelay()
    bench.begin()
    bench.now += .milliseconds(100)
    return bench
  }

  // MARK: Settling

  @Test func `an output that is removed and made again with the same bytes restarts nothing`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    #expect(bench.followUp == .after(.milliseconds(1900)))
    bench.now += .milliseconds(300)
    bench.write("/p/o", "1", .live)
    #expect(bench.followUp == .after(.milliseconds(1600)))
    #expect(bench.waitForRun() == nil)
    #expect(bench.actions == [.forgive(["/p/o"])])
    #expect(bench.now == .seconds(2))
  }

  @Test func `an output that differs restarts the run 2 s after its start`() {
    var bench = linking()
    bench.write("/p/o", "half", .live)
    bench.now += .seconds(1)
    bench.write("/p/o", "2", .live)
    #expect(bench.waitForRun() == .milliseconds(900))
    #expect(bench.run == ["/p/o"])
    bench.begin()
    bench.now += .milliseconds(100)
    // The run began with the content that was judged, not with the first one.
    bench.write("/p/o", "2", .live)
    #expect(bench.waitForRun() == nil)
  }

  @Test func `an output that differs is judged when the run ends sooner`() {
    var bench = linking()
    bench.write("/p/o", "2", .live)
    bench.end(after: .milliseconds(200))
    #expect(bench.run == ["/p/o"])
  }

  @Test func `an output is judged at once where the round before left it alone`() {
    var bench = linking()
    bench.end()
    bench.begin(isFollowUp: true)
    bench.write("/p/o", "2", .live)
    #expect(bench.run == ["/p/o"])
  }

  @Test(arguments: [Rounds.Situation.idle, .live])
  func `a path that a person ever edited is judged at once`(situation: Rounds.Situation) {
    var bench = linking()
    bench.now += .seconds(2)
    if situation == .idle { bench.end() }
    bench.write("/p/a", "edited", situation)
    for count in 0..<2 {
      #expect(bench.run == ["/p/a"])
      bench.begin()
      bench.now += .milliseconds(100)
      bench.write("/p/a", "saved \(count)", .live)
    }
    #expect(bench.run == ["/p/a"])
  }

  @Test func `another path restarts the run at once, and the run receives the output as well`() {
    var bench = linking()
    bench.write("/p/o", "2", .live)
    bench.write("/p/a", "saved", .live)
    #expect(bench.actions == [.run(["/p/a"])])
    #expect(Set(bench.begin()) == ["/p/a", "/p/o"])
    // The wait of the run before is void.
    bench.now += .milliseconds(100)
    bench.write("/p/o", "2", .live)
    #expect(bench.followUp == .after(.milliseconds(1900)))
    #expect(bench.waitForRun() == nil)
  }

  @Test func `a change while others run is judged with an output that waits`() {
    var bench = linking()
    bench.write("/p/o", "2", .live)
    bench.report([.of("/p/x", .modified)], .othersRunning(depth: 0))
    #expect(bench.run == ["/p/o", "/p/x"])
  }

  @Test func `an output is judged with a restart that is due before 2 s`() {
    var bench = linking(restarts: 3)
    let start = bench.now - .milliseconds(100)
    bench.write("/p/o", "2", .live)
    #expect(bench.followUp == .after(.milliseconds(1900)))
    bench.write("/p/out/new", "#", .live)
    #expect(bench.followUp == .after(.milliseconds(900)))
    bench.write("/p/o", "3", .live)
    #expect(bench.followUp == .after(.milliseconds(900)))
    bench.waitForDelay()
    #expect(bench.run.map { Set($0) } == ["/p/o", "/p/out/new"])
    #expect(bench.now == start + .seconds(1))
  }

  @Test func `a restart that is due after 2 s stays due when an output has settled`() {
    var bench = linking(restarts: 5)
    let start = bench.now - .milliseconds(100)
    bench.write([("/p/o", "1"), ("/p/out/new", "#")], .live)
    #expect(bench.followUp == .after(.milliseconds(1900)))
    bench.waitForDelay()
    #expect(bench.followUp == .after(.seconds(2)))
    bench.waitForDelay()
    #expect(bench.run == ["/p/out/new"])
    #expect(bench.now == start + .seconds(4))
  }

  @Test func `an edit before the start that is reported after it and then undone is owed a run`() {
    var bench = linking()
    bench.end()
    bench.begin(isFollowUp: true)
    bench.write("/p/o", "1", .live)
    // Saved, but not reported yet.
    bench.files["/p/o"] = .text("saved")
    bench.begin(isFollowUp: false)
    bench.report([.of("/p/o", .modified)], .live)
    bench.now += .milliseconds(100)
    bench.write("/p/o", "1", .live)
    #expect(bench.waitForRun() == .milliseconds(1900))
    #expect(bench.run == ["/p/o"])
  }

  @Test func `a stop voids the wait for an output, and keeps its change`() {
    var bench = linking()
    bench.write("/p/o", "2", .live)
    let generation = bench.generation ?? 0
    bench.actions = bench.rounds.stopped()
    #expect(bench.actions.isEmpty && bench.owed == ["/p/o"])
    bench.elapse(generation)
    #expect(bench.actions.isEmpty)
  }

  // MARK: Reading

  @Test func `the end of each delay flushes first, and the changes found are judged with the rest`()
  {
    for restarts in [1, 5] {
      var bench = linking(restarts: restarts)
      let path: Path = restarts == 1 ? "/p/o" : "/p/out/new"
      bench.write(path, "2", .live)
      guard case .after(let delay) = bench.followUp, let generation = bench.generation else {
        Issue.record("nothing is delayed")
        return
      }
      bench.now += delay
      let read = bench.rounds.elapsed(generation: generation)
      #expect(read == [.read(generation: generation + 1)])
      #expect(bench.rounds.isReading)
      bench.now += .milliseconds(1)
      bench.write("/p/a", "saved", .live)
      #expect(bench.actions.isEmpty)
      bench.actions = read
      bench.answer()
      #expect(bench.run?.sorted() == [path, "/p/a"].sorted())
    }
  }

  @Test func `a run that becomes due after a stop at rest is started`() {
    var bench = RoundsBench(["/p/a": "a"])
    _ = bench.round()
    bench.actions = bench.rounds.stopped()
    bench.write("/p/a", "saved", .othersRunning(depth: 7))
    #expect(bench.followUp == .after(.seconds(8)))
    bench.waitForDelay()
    #expect(bench.run == ["/p/a"])
  }
}
