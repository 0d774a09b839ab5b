import FileObservation
import Testing

@testable import ActionRunning

/// Changes that are held while a run prepares its start, or replaces what the run before made.
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

  private static let pause = RoundsBench.FollowUp.after(.milliseconds(200))

  @Test func `a path that is removed and made again with the same bytes restarts nothing`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    #expect(bench.followUp == Self.pause)
    bench.waitForDelay()
    #expect(bench.followUp == Self.pause)
    bench.write("/p/o", "1", .live)
    #expect(bench.actions == [.forgive(["/p/o"])])
  }

  @Test
  func `a path that runs write is held for a moment, while the run may still prepare its start`() {
    var bench = linking()
    bench.write("/p/o", "1", .live)
    bench.write("/p/o", "2", .live)
    #expect(bench.followUp == Self.pause)
    while bench.followUp == Self.pause { bench.waitForDelay() }
    #expect(bench.run == ["/p/o"])
  }

  @Test func `a path that stays removed restarts the run 2 s later`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    let start = bench.now
    while bench.followUp == Self.pause { bench.waitForDelay() }
    #expect(bench.run == ["/p/o"])
    #expect(bench.now - start == .seconds(2))
  }

  @Test func `what others remove, or no run has made, restarts the run at once`() {
    var bench = linking()
    bench.write("/p/a", nil, .live)
    #expect(bench.run == ["/p/a"])
    bench = linking()
    bench.rounds.markEdited("/p/o")
    bench.write("/p/o", nil, .live)
    #expect(bench.run == ["/p/o"])
  }

  @Test(arguments: [("/p/a", 400), ("/p/new", 3000)] as [(Path, Int)])
  func `what is written before the run starts its last process is held`(
    path: Path, milliseconds: Int
  ) {
    var bench = linking()
    bench.evidence = [path: .launching]
    bench.write(path, "1", .live)
    let start = bench.now
    while bench.followUp == Self.pause { bench.waitForDelay() }
    #expect(bench.run == [path])
    #expect(bench.now - start == .milliseconds(milliseconds))
  }

  @Test func `what is held is judged when the run has started`() {
    var bench = linking()
    bench.evidence = ["/p/new": .launching]
    bench.write("/p/new", "1", .live)
    bench.evidence = ["/p/new": .launched]
    bench.waitForDelay()
    #expect(bench.run == ["/p/new"])
  }

  @Test func `what was edited is not held`() {
    var bench = linking()
    bench.rounds.markEdited("/p/a")
    bench.evidence = ["/p/a": .launching]
    bench.write("/p/a", "saved", .live)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `another path restarts the run at once, and the run receives what is held as well`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    bench.write("/p/a", "saved", .live)
    #expect(bench.actions == [.run(["/p/a"])])
    #expect(Set(bench.begin()) == ["/p/a", "/p/o"])
  }

  @Test func `what is held is judged when the run ends sooner`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    bench.end(after: .milliseconds(100))
    #expect(bench.run == ["/p/o"] || bench.owed == ["/p/o"])
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
    while bench.followUp == Self.pause { bench.waitForDelay() }
    #expect(bench.run == ["/p/o"])
  }

  @Test func `a stop voids the wait for an output, and keeps its change`() {
    var bench = linking()
    bench.write("/p/o", nil, .live)
    let generation = bench.generation ?? 0
    bench.actions = bench.rounds.stopped()
    #expect(bench.actions.isEmpty && bench.owed == ["/p/o"])
    bench.elapse(generation)
    #expect(bench.actions.isEmpty)
  }

  // MARK: Reading

  @Test func `the end of each delay flushes first, and the changes found are judged with the rest`()
  {
    for isHeld in [false, true] {
      var bench = linking()
      let path: Path = "/p/o"
      bench.evidence = [path: .open]
      bench.write(path, isHeld ? nil : "2", .live)
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
      #expect(bench.run?.last == "/p/a")
      #expect(Set(bench.begin()) == [path, "/p/a"])
    }
  }

  @Test func `a run that becomes due after a stop at rest is started`() {
    var bench = RoundsBench(["/p/a": "a"])
    _ = bench.round()
    bench.actions = bench.rounds.stopped()
    bench.write("/p/a", "saved", .othersRunning(depth: 7))
    #expect(bench.followUp == .after(.seconds(4)))
    bench.waitForDelay()
    #expect(bench.run == ["/p/a"])
  }
}
