import FileObservation
import Support
import Testing

@testable import ActionRunning

/// What a run changes just before its end, as a report of its results, for runs that take long.
struct ChangeJudgeEndTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  /// Performs rounds whose runs take so long, with a change at this time after their starts.
  private func rounds(
    _ count: Int, of duration: Duration, changingAt offset: Duration,
    _ bench: inout ChangeJudgeBench
  ) -> [FollowUp] {
    var followUps: [FollowUp] = []
    while followUps.count < count, followUps.last != FollowUp.none {
      bench.waitForDelay()
      bench.begin()
      bench.now += offset
      bench.write("/p/report", "\(followUps.count)")
      bench.end(after: duration - offset)
      followUps.append(bench.followUp)
    }
    return followUps
  }

  @Test(arguments: [4850, 4998], [0, 5])
  func `a report that each long run writes at its end is delayed after three runs`(
    offset: Int, lag: Int
  ) {
    var bench = ChangeJudgeBench()
    bench.lag = .milliseconds(lag)
    let test = FollowUp.after(.milliseconds(250))
    #expect(
      rounds(6, of: .seconds(5), changingAt: .milliseconds(offset), &bench)
        == [.now, test, test, .after(.seconds(1)), .after(.seconds(2)), .after(.seconds(4))])
  }

  @Test(arguments: [
    (Duration.milliseconds(1900), Duration.milliseconds(1890)),
    (.seconds(5), .milliseconds(4700)),
    (.seconds(60), .milliseconds(59_700)),
  ])
  func `what short runs change, or what changes earlier, counts once`(
    duration: Duration, offset: Duration
  ) {
    var bench = ChangeJudgeBench()
    #expect(rounds(16, of: duration, changingAt: offset, &bench) == FollowUp.law(16))
  }

  @Test func `what others have been seen to edit counts once`() {
    var bench = ChangeJudgeBench()
    bench.editAtRest("/p/report", "edited")
    let followUps = rounds(13, of: .seconds(5), changingAt: .milliseconds(4900), &bench)
    #expect(followUps == FollowUp.law(13))
  }

  @Test func `what is saved before the run changes it at its end counts once`() {
    var bench = ChangeJudgeBench()
    var followUps: [FollowUp] = []
    for number in 0..<12 {
      bench.waitForDelay()
      bench.begin()
      bench.now += .seconds(2)
      bench.write("/p/a", "saved \(number)")
      bench.now += .milliseconds(2900)
      bench.write("/p/a", "stamped \(number)")
      bench.end(after: .milliseconds(100))
      followUps.append(bench.followUp)
    }
    #expect(followUps == FollowUp.law(12))
  }

  @Test func `saves at an even pace do not stay at the end of runs`() {
    var bench = ChangeJudgeBench()
    var pauses = 0
    var nextSave = Duration.milliseconds(4900)
    for number in 0..<11 {
      bench.waitForDelay()
      bench.begin()
      let end = bench.now + .seconds(5)
      if nextSave < bench.now { nextSave += .seconds(5) }
      bench.now = nextSave
      bench.write("/p/a", "\(number)")
      nextSave += .seconds(5)
      bench.end(after: end - bench.now)
      if case .after(let delay) = bench.followUp, delay > .seconds(1) { pauses += 1 }
    }
    #expect(pauses == 0)
  }
}
