import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

/// Which output is printed with `--output failed`.
struct HeldOutputTests {
  private func run(_ number: Int = 1, _ task: String = "t", _ job: TaskReport.Job = .command)
    -> TaskReport.Run
  {
    TaskReport.Run(task: task, job: job, number: number, trigger: RunTrigger(.change))
  }

  private func output(
    _ line: String, _ run: TaskReport.Run, isFinished: Bool = true, isSplit: Bool = false
  ) -> TaskOutput {
    TaskOutput(run: run, line: Array(line.utf8), isSplit: isSplit, isFinished: isFinished)
  }

  private func lines(_ held: HeldOutput?) -> [String]? {
    held.map { ($0.first + $0.last).map { String(decoding: $0.line, as: UTF8.self) } }
  }

  private var held = HeldOutputs()

  init() { held.tasks = ["t"] }

  private mutating func hold(_ output: TaskOutput) -> Bool { held.hold(output) }

  private mutating func decide(_ task: String, hasFailed: Bool) -> HeldOutput? {
    held.decide(task, hasFailed: hasFailed)
  }

  @Test mutating func `the output of a failed run is returned once, as whole lines`() {
    held.began(run())
    #expect(hold(output("a", run(), isFinished: false)))
    #expect(hold(output("ab", run())))
    #expect(hold(output("c", run())))
    #expect(lines(decide("t", hasFailed: true)) == ["ab", "c"])
    #expect(decide("t", hasFailed: true) == nil)
    // What a process that it left behind writes is printed at once.
    #expect(!hold(output("d", run())))
  }

  @Test mutating func `that of another run is not, nor what follows it`() {
    held.began(run())
    #expect(hold(output("a", run())))
    #expect(decide("t", hasFailed: false) == nil)
    #expect(hold(output("b", run())))
    held.began(run(2))
    #expect(hold(output("c", run())))
    #expect(hold(output("d", run(2))))
    #expect(lines(decide("t", hasFailed: true)) == ["d"])
  }

  @Test mutating func `other tasks and hooks print at once`() {
    held.began(run())
    held.began(run(1, "u"))
    #expect(!hold(output("a", run(1, "u"))))
    #expect(!hold(output("a", run(1, "t", .hook))))
    #expect(decide("u", hasFailed: true) == nil)
  }

  @Test mutating func `memory is bounded, and what is left out is counted`() {
    held.began(run())
    let line = String(repeating: "x", count: 99)
    for number in 0..<50_000 { #expect(hold(output("\(number) " + line, run()))) }
    guard let all = decide("t", hasFailed: true) else {
      Issue.record("nothing is held")
      return
    }
    let size = (all.first + all.last).map { $0.line.count + 1 }.reduce(0, +)
    #expect(size <= HeldOutput.mostFirst + HeldOutput.mostLast)
    #expect(all.first.count + all.last.count + all.gap.lines == 50_000)
    #expect(lines(all)?.first?.hasPrefix("0 ") == true)
    #expect(lines(all)?.last?.hasPrefix("49999 ") == true)
    #expect(all.gap.text.hasSuffix(" lines of output (4 MB) are left out here"))
  }

  @Test func `what is left out is said in words`() {
    #expect(
      HeldOutput.Gap(lines: 1, bytes: 70_000).text == "1 line of output (70 KB) is left out here")
  }
}
