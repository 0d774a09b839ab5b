import FileObservation
import SystemCalls
import Support
import Testing

@testable import ActionRunning

/// Outputs: paths that runs are proved to write, and whose follow-ups change nothing.
struct ChangeJudgeOutputTests {
  private typealias FollowUp = ChangeJudgeBench.FollowUp

  private static let files: [Path: String] = ["/p/a.c": "0", "/p/a.o": "0"]

  /// What a run does with `/p/a.o`.
  enum Writing: Sendable {
    /// It is made when the source has changed.
    case ifNeeded
    /// It is written in each run.
    case always
  }

  private func bench(_ programs: Set<Path> = ["/p/a.o"]) -> ChangeJudgeBench {
    var bench = ChangeJudgeBench(Self.files)
    bench.programs = programs
    return bench
  }

  /// A save while nothing runs, the compilation, and the follow-ups to which it leads. Returns the
  /// number of runs.
  private func save(
    _ text: String, in bench: inout ChangeJudgeBench, _ writing: Writing = .ifNeeded
  ) -> Int {
    // At no even pace.
    bench.now += .milliseconds(60_000 + bench.judge.roundCount * 3571 % 10_000)
    bench.write("/p/a.c", text, .idle)
    var runs = 0
    while bench.followUp == .now {
      bench.begin()
      if writing == .always || bench.files["/p/a.o"] != .text(text) { bench.write("/p/a.o", text) }
      bench.end()
      runs += 1
    }
    return runs
  }

  // MARK: Proofs

  @Test func `two follow-ups in vain make a program an output, and then a save leads to one run`() {
    var bench = bench()
    #expect((1...5).map { save("\($0)", in: &bench) } == [2, 2, 1, 1, 1])
  }

  @Test func `names without an ending are of no kind`() {
    var bench = ChangeJudgeBench(["/p/src": "0", "/p/version": "0"])
    bench.write("/p/Dockerfile", "saved", .idle)
    var counts: [Int] = []
    for number in 1...5 {
      bench.now += .seconds(60 + number)
      bench.write("/p/src", "\(number)", .idle)
      var runs = 0
      while bench.followUp == .now {
        bench.begin()
        bench.write("/p/version", "\(number)")
        bench.end()
        runs += 1
      }
      counts.append(runs)
    }
    #expect(counts == [2, 2, 1, 1, 1])
  }

  /// The run may read it, and a person may write it.
  @Test func `a text that the run has open for writing is not proved by that`() {
    var bench = bench([])
    bench.evidence["/p/a.o"] = .run
    #expect((1...20).allSatisfy { _ in save("\(bench.now)", in: &bench) == 2 })
  }

  @Test func `with too many edited kinds of files, any text may be edited, and no program is`() {
    for programs in [Set<Path>(), ["/p/a.o"]] {
      var bench = bench(programs)
      for number in 0..<ChangeJudge.mostKinds { bench.write(Path("/p/x.\(number)"), "x", .idle) }
      #expect(bench.judge.editedKinds.count == ChangeJudge.mostKinds)
      bench.judge.limit = StartLimit(share: 1)
      bench.begin()
      bench.end()
      let runs = (1...3).map { save("\($0)", in: &bench, .always) }
      #expect(runs == (programs.isEmpty ? [2, 2, 2] : [2, 2, 1]))
      #expect(bench.judge.isProved("/p/a.o") == !programs.isEmpty)
    }
  }

  @Test func `a text that two follow-ups have written again, unchanged, is an output`() {
    var bench = bench([])
    #expect((1...5).map { save("\($0)", in: &bench, .always) } == [2, 2, 1, 1, 1])
    #expect(bench.judge.isProved("/p/a.o"))
  }

  /// Without a quiet period, the two writes of a save are reported one by one, and the run may start between both.
  @Test func `what was saved just before a start is not written again by the run`() {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, ["/p/a.c": "0"])
    bench.begin()
    for number in 1...3 {
      bench.now += .seconds(1)
      bench.write("/p/a.c", "\(number)", .interruptible)
      bench.now += .milliseconds(3)
      bench.begin()
      bench.report([.of("/p/a.c", .modified)], .interruptible)
      #expect(bench.judge.records["/p/a.c"]?.suspicion.hasChanged == false)
    }
    #expect(bench.judge.records["/p/a.c"]?.proof.rewritings.isEmpty == true)
  }

  /// As with `cp src/a.js dist/a.js`.
  @Test(arguments: ["/p/dist/a.c", "/p/b.c"] as [Path])
  func `a copy is an output, but for one in a directory in which people edit such files`(
    copy: Path
  ) {
    var bench = ChangeJudgeBench(["/p/a.c": "0", copy: "0"])
    for number in 1...3 {
      bench.now += .seconds(2)
      bench.write("/p/a.c", "\(number)", .idle)
      while bench.followUp == .now {
        bench.begin()
        bench.write(copy, "\(number)")
        bench.end()
      }
    }
    #expect(bench.judge.isProved(copy) == (copy == "/p/dist/a.c"))
  }

  /// As with `sed -i src/*` before the tests. A person saves a test, and then a source while the tests run.
  @Test func `a save leads to a run, though each run has rewritten the file before`() {
    var bench = ChangeJudgeBench(["/p/tests/a": "0", "/p/src/a": "0"])
    var text = "0"
    bench.begin()
    for number in 1...8 {
      repeat {
        bench.waitForDelay()
        bench.begin()
        bench.write("/p/src/a", text)
        bench.end()
      } while bench.followUp != .none
      bench.now += .seconds(2)
      bench.write("/p/tests/a", "\(number)", .idle)
      bench.begin()
      bench.write("/p/src/a", text)
      bench.now += .seconds(1)
      text = "\(number)"
      bench.write("/p/src/a", text)
      bench.end()
      #expect(bench.followUp != .none)
    }
  }

  /// As where the command opens the file for update, and a person saves it by renaming while the command runs.
  @Test func `a text that follow-ups only open and close is no output`() {
    var bench = ChangeJudgeBench(["/p/tests/a": "0", "/p/src/a": "0"])
    for number in 1...8 {
      bench.now += .seconds(2)
      bench.write("/p/tests/a", "\(number)", .idle)
      bench.begin()
      bench.now += .seconds(1)
      bench.write("/p/src/a", "\(number)")
      bench.end()
      #expect(bench.followUp != .none)
      while bench.followUp != .none {
        bench.waitForDelay()
        bench.begin()
        bench.report([.of("/p/src/a", .modified)])
        bench.end()
      }
    }
  }

  /// It may be a test that a person saves during each run.
  @Test func `a text that is written once for each save is never an output`() {
    var bench = bench([])
    let runs = (1...20).map { save("\($0)", in: &bench) }
    #expect(runs.allSatisfy { $0 == 2 }, "\(runs)")
  }

  @Test func `a program that was made before the run began proves nothing`() {
    var bench = bench()
    for number in 1...9 {
      bench.now += .seconds(2)
      bench.write("/p/a.c", "\(number)", .idle)
      // Its time of creation is earlier.
      bench.programs = []
      bench.begin()
      bench.write("/p/a.o", "\(number)")
      bench.programs = ["/p/a.o"]
      bench.end()
      #expect(bench.run == ["/p/a.o"])
      #expect(bench.round() == .none)
    }
  }

  @Test func `what others have proved to make proves no output`() {
    var bench = bench()
    bench.evidence["/p/a.o"] = .others
    #expect((1...9).allSatisfy { save("\($0)", in: &bench) == 2 })
  }

  @Test func `outputs are announced once`() {
    var bench = bench()
    var announced: [[Path]] = []
    for text in ["1", "2", "3"] {
      _ = save(text, in: &bench)
      announced.append(bench.outputs)
    }
    #expect(announced == [[], ["/p/a.o"], []])
  }

  // MARK: What an output leads to

  @Test func `an output stays owed, and the next run receives it`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    #expect(bench.setAside == ["/p/a.o"])
    #expect(bench.owed == ["/p/a.o"] && bench.ledger.aside == ["/p/a.o"])
    #expect(bench.judgments.map(\.decision) == [.waits])
    bench.now += .seconds(2)
    bench.write("/p/a.c", "4", .idle)
    #expect(Set(bench.begin()) == ["/p/a.o", "/p/a.c"])
  }

  @Test func `a change beside an output leads to a run`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.begin()
    bench.write([("/p/a.o", "4"), ("/p/b", "saved")])
    bench.end()
    #expect(bench.setAside == ["/p/a.o"] && bench.run == ["/p/b"])
    #expect(Set(bench.begin()) == ["/p/a.o", "/p/b"])
  }

  // MARK: Follow-ups that prove nothing

  @Test func `a follow-up that ends in another way is not in vain`() {
    var bench = bench()
    for text in ["1", "2", "3", "4"] {
      bench.results = [:]
      bench.now += .seconds(2)
      bench.write("/p/a.c", text, .idle)
      bench.begin()
      bench.write("/p/a.o", text)
      bench.end()
      #expect(bench.run == ["/p/a.o"])
      bench.results = ["t": .exited(1)]
      #expect(bench.round() == .none)
    }
  }

  @Test func `a follow-up that changes another path is not in vain`() {
    var bench = bench()
    for text in ["1", "2", "3", "4"] {
      bench.now += .seconds(2)
      bench.write("/p/a.c", text, .idle)
      bench.begin()
      bench.write("/p/a.o", text)
      bench.end()
      #expect(bench.run == ["/p/a.o"])
      if bench.round([("/p/b", text)]) != .none {
        bench.waitForDelay()
        #expect(bench.round() == .none)
      }
    }
  }

  @Test func `a follow-up that changes another path after a checkpoint is not in vain`() {
    var bench = bench()
    for text in ["1", "2", "3", "4"] {
      bench.now += .seconds(2)
      bench.write("/p/a.c", text, .idle)
      bench.begin()
      bench.write("/p/a.o", text)
      bench.end()
      #expect(bench.run == ["/p/a.o"])
      bench.begin()
      bench.checkpoint()
      #expect(bench.outputs.isEmpty)
      bench.write("/p/b", text)
      bench.end()
      bench.waitForDelay()
      #expect(bench.round() == .none)
    }
  }

  @Test func `where several tasks may have written, nothing is an output`() {
    var bench = bench()
    bench.hasOneWriter = false
    #expect((1...5).allSatisfy { save("\($0)", in: &bench) == 2 })
  }

  // MARK: Edited outputs

  @Test func `what a person edits is no output any more`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.now += .seconds(2)
    bench.editAtRest("/p/a.o", "patched")
    #expect(save("4", in: &bench) == 2)
    #expect(save("5", in: &bench) == 2)
  }

  @Test func `what others are proved to edit during a run is no output any more`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.evidence["/p/a.o"] = .others
    bench.begin()
    bench.write("/p/a.o", "patched")
    bench.end()
    #expect(bench.run == ["/p/a.o"])
    bench.evidence = [:]
    bench.begin()
    bench.write("/p/a.o", "4")
    bench.end()
    #expect(bench.setAside.isEmpty && bench.run == ["/p/a.o"])
  }

  @Test func `outputs that are removed together stay outputs`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.now += .seconds(2)
    bench.editAtRest("/p/a.o", nil)
    #expect(save("4", in: &bench) == 1)
  }

  @Test func `an output that changes while others run leads to a run`() {
    var bench = bench()
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.now += .seconds(2)
    bench.write("/p/a.o", "other", .othersRunning)
    #expect(bench.run == ["/p/a.o"])
  }

  // MARK: Runs that a change restarts

  @Test(arguments: [Writing.ifNeeded, .always])
  func `an output of a run that a change restarts starts it once`(writing: Writing) {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, Self.files)
    bench.programs = ["/p/a.o"]
    bench.begin()
    bench.evidence = ["/p/a.c": .others]
    let starts = (1...5).map { number in
      bench.now += .seconds(10 + number)
      bench.write("/p/a.c", "\(number)", .interruptible)
      var starts = 0
      while bench.waitForRun() != nil {
        bench.begin()
        starts += 1
        bench.now += .milliseconds(500)
        guard writing == .always || bench.files["/p/a.o"] != .text("\(number)") else { break }
        bench.write("/p/a.o", "\(number)", .interruptible)
      }
      return starts
    }
    #expect(starts == [2, 2, 1, 1, 1])
    // It restarts the server if the server cannot have written it.
    bench.evidence["/p/a.o"] = .others
    bench.now += .seconds(3)
    bench.write("/p/a.o", "patched", .interruptible)
    #expect(bench.run == ["/p/a.o"])
  }

  @Test(arguments: [Duration.milliseconds(500), .seconds(60)])
  func `a file that such a run has open for writing is an output at once`(offset: Duration) {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, ["/p/log": "0"])
    bench.evidence["/p/log"] = .run
    bench.begin()
    bench.now += offset
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.setAside == ["/p/log"] && bench.followUp == .none)
    #expect(bench.owed == ["/p/log"])
    bench.write("/p/a", "saved", .interruptible)
    #expect(bench.run == ["/p/a"])
    #expect(Set(bench.begin()) == ["/p/log", "/p/a"])
  }

  @Test func `a file that such a run had open is no output when it is changed later`() {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, ["/p/log": "0"])
    bench.evidence["/p/log"] = .run
    bench.begin()
    bench.now += .milliseconds(400)
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.setAside == ["/p/log"])
    bench.evidence = [:]
    var delay = Duration.zero
    for number in 1...9 {
      bench.now += .seconds(4) - delay
      bench.write("/p/log", "saved \(number)", .interruptible)
      delay = bench.waitForRun() ?? .seconds(9)
      #expect(delay <= .seconds(1))
      bench.begin()
    }
  }

  @Test func `a file that others edit is no output, although such a run has it open`() {
    var bench = ChangeJudgeBench(hasInterruptibleService: true, ["/p/log": "0"])
    bench.editAtRest("/p/log", "saved")
    bench.evidence["/p/log"] = .run
    bench.begin()
    bench.now += .milliseconds(500)
    bench.write("/p/log", "1", .interruptible)
    #expect(bench.setAside.isEmpty && bench.run == ["/p/log"])
  }

  // MARK: What follows from reports

  @Test func `a copy of the reports comes to rest`() {
    var bench = ChangeJudgeBench(["/p/log": "0"])
    bench.begin()
    bench.write("/p/log", "running")
    bench.end()
    var delays: [FollowUp] = []
    for count in 0..<40 {
      // Otherwise the next run has begun.
      let isAtRest = bench.followUp != .now
      if !isAtRest { bench.begin() }
      bench.now += .milliseconds(5)
      bench.write("/p/log", "succeeded \(count)", isAtRest ? .idle : .running)
      if isAtRest {
        delays.append(bench.followUp)
        bench.waitForDelay()
        bench.begin()
      }
      bench.write("/p/log", "running \(count)")
      bench.end()
      delays.append(bench.followUp)
    }
    #expect(bench.judge.editedPaths.isEmpty)
    #expect(delays.filter { $0 == .now }.count <= 10)
    #expect(
      delays.suffix(4).allSatisfy { followUp in
        if case .after(let delay) = followUp {
          delay >= Suspicion.Rules.noticed
        } else {
          followUp == .none
        }
      })
  }

  @Test func `a save of such a path later than 0.3 s after the reports begins a round`() {
    var bench = ChangeJudgeBench(["/p/log": "0"])
    _ = bench.rounds(14) { [("/p/log", "#\($0)")] }
    #expect(bench.followUp == .after(Suspicion.Rules.noticed))
    bench.now += .milliseconds(301)
    bench.write("/p/log", "saved", .idle)
    #expect(bench.run == ["/p/log"])
  }
}
