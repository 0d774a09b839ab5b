import FileObservation
import SystemCalls
import Testing

@testable import ActionRunning

/// Outputs: paths that only runs change, and whose follow-ups change nothing.
struct RoundsOutputTests {
  private typealias FollowUp = RoundsBench.FollowUp

  private static let files: [Path: String] = ["/p/a.c": "0", "/p/a.o": "0"]

  /// A save while nothing runs, the compilation, and the follow-ups to which it leads. Returns the
  /// number of runs.
  private func save(_ text: String, in bench: inout RoundsBench) -> Int {
    bench.write("/p/a.c", text, .idle)
    var runs = 0
    while bench.followUp == .now {
      bench.begin()
      if bench.files["/p/a.o"] != .text(text) { bench.write("/p/a.o", text) }
      bench.end()
      runs += 1
    }
    return runs
  }

  @Test func `two follow-ups in vain make an output, and then each save leads to one run`() {
    var bench = RoundsBench(Self.files)
    #expect((1...5).map { save("\($0)", in: &bench) } == [2, 2, 1, 1, 1])
    #expect(bench.owed == [])
  }

  @Test func `outputs are announced once`() {
    var bench = RoundsBench(Self.files)
    var announced: [[Path]] = []
    for text in ["1", "2", "3"] {
      _ = save(text, in: &bench)
      announced.append(bench.outputs)
    }
    #expect(announced == [[], ["/p/a.o"], []])
  }

  @Test func `a follow-up that ends in another way is not in vain`() {
    var bench = RoundsBench(Self.files)
    for text in ["1", "2", "3", "4"] {
      bench.results = [:]
      bench.write("/p/a.c", text, .idle)
      bench.begin()
      bench.write("/p/a.o", text)
      bench.end()
      bench.results = ["t": .exited(1)]
      #expect(bench.round() == .none)
    }
  }

  @Test func `a follow-up that changes another path is not in vain`() {
    var bench = RoundsBench(Self.files)
    for text in ["1", "2", "3", "4"] {
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

  @Test func `where several tasks may have written, nothing is an output`() {
    var bench = RoundsBench(Self.files)
    bench.hasOneWriter = false
    #expect((1...5).allSatisfy { save("\($0)", in: &bench) == 2 })
  }

  @Test func `what somebody edits is no output any more`() {
    var bench = RoundsBench(Self.files)
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.now += .seconds(2)
    bench.editAtRest("/p/a.o", "patched")
    #expect(save("4", in: &bench) == 2)
    #expect(save("5", in: &bench) == 2)
  }

  @Test func `outputs that are removed together stay outputs`() {
    var bench = RoundsBench(Self.files)
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.editAtRest("/p/a.o", nil)
    #expect(save("4", in: &bench) == 1)
  }

  @Test func `an output that changes while others run leads to a run`() {
    var bench = RoundsBench(Self.files)
    for text in ["1", "2", "3"] { _ = save(text, in: &bench) }
    bench.write("/p/a.o", "other", .othersRunning(depth: 0))
    #expect(bench.run == ["/p/a.o"])
  }

  @Test(arguments: [false, true])
  func `an output of a run that a change restarts starts it once`(isRewritten: Bool) {
    var bench = RoundsBench(isLive: true, Self.files)
    bench.begin()
    bench.evidence = ["/p/a.c": .innocent, "/p/a.o": .launched]
    let starts = (1...5).map { number in
      bench.now += .seconds(10)
      bench.write("/p/a.c", "\(number)", .live)
      var starts = 0
      while bench.waitForRun() != nil {
        bench.begin()
        starts += 1
        bench.now += .milliseconds(500)
        guard isRewritten || bench.files["/p/a.o"] != .text("\(number)") else { break }
        bench.write("/p/a.o", "\(number)", .live)
      }
      return starts
    }
    #expect(starts == [2, 2, 1, 1, 1])
    // It restarts the server if the server cannot have written it.
    bench.evidence["/p/a.o"] = .innocent
    bench.now += .seconds(3)
    bench.write("/p/a.o", "patched", .live)
    #expect(bench.run == ["/p/a.o"])
  }

  // MARK: What follows from reports

  @Test func `a copy of the reports does not lead to runs at once`() {
    var bench = RoundsBench(["/p/log": "0"])
    bench.begin()
    bench.write("/p/log", "running")
    bench.end()
    var delays: [FollowUp] = []
    for count in 0..<3 {
      bench.now += .milliseconds(5)
      bench.write("/p/log", "succeeded \(count)", .idle)
      delays.append(bench.followUp)
      bench.waitForDelay()
      bench.begin()
      bench.write("/p/log", "running \(count)")
      bench.end()
      delays.append(bench.followUp)
    }
    #expect(bench.rounds.editedPaths.isEmpty)
    #expect(delays.filter { $0 == .now }.count <= 2)
  }

  @Test func `a save of such a path later than 1 s after the reports begins a round`() {
    var bench = RoundsBench(["/p/log": "0"])
    _ = bench.rounds(2) { [("/p/log", "#\($0)")] }
    #expect(bench.followUp == .after(.seconds(4)))
    bench.now += .milliseconds(1001)
    bench.write("/p/log", "saved", .idle)
    #expect(bench.run == ["/p/log"])
  }
}
