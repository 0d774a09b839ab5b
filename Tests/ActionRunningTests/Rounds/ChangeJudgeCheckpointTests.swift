import FileObservation
import Support
import TestSupport
import Testing

@testable import ActionRunning

/// The judging of changes in the middle of a round, and of changes that a run has received.
struct ChangeJudgeCheckpointTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a": "a", "/p/b": "b", "/p/log": "0"]

  // MARK: Checkpoints

  @Test func `a checkpoint judges the changes so far, and does not end the round`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(2) { [("/p/log", "#\($0)"), ("/p/b", "same")] }
    bench.begin()
    bench.write([("/p/b", "same"), ("/p/a", "saved")])
    bench.checkpoint()
    #expect(bench.actions == [.settle(["/p/b"]), .run(["/p/a"])])
    #expect(!bench.judge.isFlushing && !bench.judge.hasEnded)
    // The row ends with the round.
    #expect(bench.judge.repetitions["/p/log"] == 2)
    bench.end()
    #expect(bench.followUp == .none && bench.judge.hasEnded)
    bench.begin()
    #expect(bench.judge.repetitions["/p/log"] == nil)
  }

  @Test func `a path that changes again after a checkpoint is compared with the known content`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(2) { _ in [("/p/b", "same")] }
    bench.begin()
    bench.write("/p/b", "same")
    bench.checkpoint()
    #expect(bench.settled == ["/p/b"])
    bench.write("/p/b", "other")
    bench.end()
    #expect(bench.followUp != .none)
  }

  @Test func `a delay counts from the checkpoint, and goes on at the end of the round`() {
    var bench = ChangeJudgeBench(Self.files)
    for count in 0..<7 { _ = bench.round([("/p/log", "#\(count)")]) }
    bench.waitForDelay()
    bench.begin()
    bench.write("/p/log", "other")
    bench.now += .milliseconds(500)
    bench.checkpoint()
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    #expect(bench.loops.map(\.path) == ["/p/log"])
    bench.end(after: .seconds(1))
    #expect(bench.followUp == .after(Suspicion.Rules.noticed - .seconds(1)))
    bench.checkpoint()
    #expect(bench.followUp == .after(Suspicion.Rules.noticed - .seconds(1)))
    bench.waitForDelay()
    #expect(bench.run == ["/p/log"])
  }

  /// What a build writes comes late after its start, and not after that of the short test that follows it.
  @Test(arguments: [0.05, 1.0], 1...10 as ClosedRange<UInt64>)
  func `what a build writes becomes rare, however long the task after it takes`(
    duration: Double, seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    var bench = ChangeJudgeBench(Self.files)
    var starts: [Duration] = []
    bench.begin()
    while bench.now < .seconds(600) {
      starts.append(bench.now)
      bench.now += .seconds(Double.random(in: 0.9...1.1, using: &generator))
      bench.write("/p/log", "#\(starts.count)")
      bench.checkpoint()
      if bench.followUp == .now {
        bench.launch()
        continue
      }
      // The other task watches nothing.
      bench.launch(isRestart: true)
      bench.end(after: .seconds(duration))
      bench.waitForDelay()
      bench.begin()
    }
    let early = starts.count { $0 < .seconds(60) }
    #expect(early <= 20 && starts.count <= 60, "\(early), \(starts.count)")
  }

  @Test func `a checkpoint without changes leads to nothing`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.checkpoint()
    #expect(bench.actions.isEmpty && !bench.judge.isFlushing)
  }

  @Test func `a checkpoint does not take the answer of a flush that began before it`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    let first = bench.judge.checkpoint()
    let second = bench.judge.checkpoint()
    bench.actions = first
    bench.answer()
    #expect(bench.actions.isEmpty && bench.judge.isFlushing)
    // What the task changed last is reported by the second one only.
    bench.report([.of("/p/a", .modified)])
    bench.actions = second
    bench.answer()
    #expect(bench.run == ["/p/a"])

    bench.begin()
    bench.actions = bench.judge.workEnded()
    bench.actions = bench.judge.checkpoint()
    bench.answer()
    #expect(bench.judge.hasEnded)
  }

  @Test func `the end of the work replaces a checkpoint`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    let checkpoint = bench.judge.checkpoint()
    let end = bench.judge.workEnded()
    bench.actions = checkpoint
    bench.answer()
    #expect(bench.actions.isEmpty && bench.judge.isFlushing)
    bench.actions = end
    bench.answer()
    #expect(bench.run == ["/p/a"] && bench.judge.hasEnded)
  }

  @Test func `a round that is stopped during a checkpoint has no follow-up`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    let checkpoint = bench.judge.checkpoint()
    bench.actions = bench.judge.stopped()
    bench.actions = checkpoint
    bench.answer()
    #expect(bench.actions.isEmpty)
    bench.write("/p/b", "written while it is stopped")
    bench.end()
    #expect(bench.actions == [.announceOwed(["/p/b"])])
    #expect(bench.owed == ["/p/a", "/p/b"])
    bench.write("/p/log", "saved", .idle)
    #expect(bench.run == ["/p/log"])
  }

  // MARK: Changes that a run has received

  @Test func `a change that a run has received leads to nothing, and its content is remembered`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "generated")
    bench.launch()
    bench.write("/p/b", "saved")
    bench.end()
    #expect(bench.actions == [.run(["/p/b"])])
    bench.begin()
    bench.write("/p/a", "generated")
    bench.end()
    #expect(bench.actions == [.settle(["/p/a"])])
  }

  @Test func `a change that a run has received is not settled either`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(2) { _ in [("/p/a", "same")] }
    bench.begin()
    bench.write("/p/a", "same")
    bench.launch()
    bench.end()
    #expect(bench.actions.isEmpty)
  }

  @Test func `a path that a run has received since is removed from the delayed follow-up`() {
    var bench = ChangeJudgeBench(Self.files)
    for count in 0..<13 { _ = bench.round([("/p/log", "#\(count)"), ("/p/a", "#\(count)")]) }
    bench.begin()
    bench.write([("/p/log", "1"), ("/p/a", "1")])
    bench.checkpoint()
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    bench.launch(isRestart: true)
    #expect(bench.judge.followUp?.paths == ["/p/log", "/p/a"])
    bench.launch()
    #expect(!bench.judge.owesRun)
    bench.end()
    #expect(bench.actions.isEmpty)
  }

  @Test func `so is one that is not read, because it is too large or no file`() {
    var bench = ChangeJudgeBench(Self.files)
    for count in 0..<13 {
      bench.waitForDelay()
      bench.begin()
      bench.files["/p/log"] = count % 2 == 0 ? .special : .text("\(count)")
      bench.report([.of("/p/log", .modified)])
      if count < 12 { bench.end() } else { bench.checkpoint() }
    }
    #expect(bench.judge.delayedPaths == ["/p/log"])
    bench.launch()
    #expect(!bench.judge.owesRun)
  }

  // MARK: Ignored changes

  @Test func `the end of a task that ignores changes leads to no judgment`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "half written")
    bench.actions = bench.judge.ignoringEnded()
    bench.answer()
    #expect(bench.actions.isEmpty && !bench.judge.isFlushing)
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a checkpoint meanwhile is one`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    let flush = bench.judge.ignoringEnded()
    let checkpoint = bench.judge.checkpoint()
    bench.actions = flush
    bench.answer()
    #expect(bench.actions.isEmpty)
    bench.actions = checkpoint
    bench.answer()
    #expect(bench.run == ["/p/a"])
  }

  // MARK: What a run begins with

  @Test func `a run that starts late begins with what is there then`() {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, Self.files)
    bench.begin()
    bench.now += .seconds(3)
    bench.write("/p/a", "one", .interruptible)
    #expect(bench.run == ["/p/a"])
    // The former process is being stopped.
    bench.request()
    bench.write("/p/a", "two", .running)
    bench.now += .seconds(1)
    bench.launch()
    bench.now += .seconds(3)
    bench.write("/p/a", "one", .interruptible)
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a run that starts in the middle of a round begins with what it has received`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/a", "one")])
    bench.begin()
    bench.write("/p/a", "two")
    bench.launch()
    bench.write("/p/a", "one")
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a run that a key starts after a stop begins with what is there then`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/a", "one")])
    bench.begin()
    bench.write("/p/a", "two")
    bench.actions = bench.judge.stopped()
    bench.end()
    bench.begin()
    bench.write("/p/a", "one")
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `what another task has not received is not taken for known`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/a", "one")])
    bench.begin()
    bench.files["/p/a"] = .text("two")
    // Another task starts before the change is reported.
    bench.launch(isOnlyReader: false)
    bench.report([.of("/p/a", .modified)])
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a command that is only started again has not received what it is owed`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.round([("/p/a", "one")])
    bench.begin()
    bench.write("/p/a", "two")
    bench.launch(isRestart: true)
    bench.end()
    #expect(bench.run == ["/p/a"])
  }

  @Test func `a path for which a follow-up is delayed is not settled`() {
    var bench = ChangeJudgeBench(Self.files)
    _ = bench.rounds(14) { [("/p/log", "#\($0)")] }
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    bench.write("/p/log", "#10", .othersRunning)
    #expect(bench.settled.isEmpty && bench.followUp == .after(Suspicion.Rules.noticed))
    bench.waitForDelay()
    #expect(bench.run == ["/p/log"])
  }

  // MARK: Limits

  @Test func `of more than 4096 remembered edits the oldest are forgotten`() {
    var bench = ChangeJudgeBench(["/p/o": "0"])
    // Something to forget, so that all of a batch is remembered.
    _ = bench.rounds(2) { _ in [("/p/o", "same")] }
    bench.report((0..<5000).map { .of(Path("/q/\($0)"), .modified) }, .idle)
    #expect(bench.judge.editedPaths.count == 5000)
    _ = bench.round()
    bench.now += .seconds(2)
    bench.report([.of("/p/a", .modified)], .idle)
    bench.begin()
    #expect(bench.judge.records.count <= ChangeJudge.mostRecords)
    #expect(bench.judge.editedPaths.contains("/p/a"))
  }

  @Test func `of a large batch the first 256 edits are remembered if there is nothing to forget`() {
    var bench = ChangeJudgeBench()
    bench.report((0..<1000).map { .of(Path("/q/\($0)"), .modified) }, .idle)
    #expect(bench.run?.count == 1000)
    #expect(bench.judge.records.count == 256)
  }

  @Test func `records that hold nothing are removed after two rounds without changes`() {
    var bench = ChangeJudgeBench()
    _ = bench.round((0..<1000).map { (Path("/q/\($0)"), "#") })
    #expect(bench.judge.records.count == 1001)
    for _ in 0..<3 { _ = bench.round() }
    // They may be outputs.
    #expect(
      bench.judge.records.values.allSatisfy { record in
        record.proof == ChangeJudge.OutputProof(timesUnchanging: 1) && record.suspicion.isEmpty
      })
    bench.judge.updateAll { ($0.proof, $0.knownContent) = (ChangeJudge.OutputProof(), nil) }
    #expect(bench.judge.records.isEmpty)
  }

  @Test func `a stop removes the records of changes that are not judged, after the next run`() {
    var bench = ChangeJudgeBench(Self.files)
    bench.begin()
    bench.write("/p/a", "saved")
    bench.actions = bench.judge.stopped()
    bench.end()
    #expect(bench.judge.unjudged.isEmpty)
    #expect(bench.judge.records.values.allSatisfy { $0.unjudged == nil })
    for _ in 0..<2 { _ = bench.round() }
    #expect(bench.judge.records.isEmpty)
  }
}
