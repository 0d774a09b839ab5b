import SystemCalls
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

  private var held = HeldOutputs()

  init() { held.setHolds(true, "t") }

  private mutating func decide(_ task: String, hasFailed: Bool) -> Bool {
    held.decide(task, hasFailed: hasFailed)
  }

  @Test mutating func `the output of a failed run is printed once`() {
    held.began(run())
    #expect(held.holds(run()))
    #expect(decide("t", hasFailed: true))
    #expect(!decide("t", hasFailed: true))
    // What a process that it left behind writes is printed at once.
    #expect(!held.holds(run()))
  }

  @Test mutating func `that of another run is not, nor what follows it`() {
    held.began(run())
    #expect(!decide("t", hasFailed: false))
    #expect(held.holds(run()))
    held.began(run(2))
    #expect(held.holds(run()) && held.holds(run(2)))
    #expect(decide("t", hasFailed: true))
    #expect(held.holds(run()))
  }

  @Test mutating func `that of the process that ran beside a failed run is printed at once`() {
    held.began(run())
    held.began(run(2))
    #expect(decide("t", hasFailed: true))
    #expect(held.holds(run()))
    held.formerGoesOn(of: "t")
    #expect(!held.holds(run()) && !decide("t", hasFailed: true))
    held.began(run(3))
    #expect(held.holds(run()) && held.holds(run(3)))
  }

  @Test mutating func `what was set when a run began counts until the next one begins`() {
    held.began(run())
    held.setHolds(false, "t")
    #expect(held.holds(run()))
    #expect(decide("t", hasFailed: true))
    held.began(run(2))
    #expect(!held.holds(run(2)) && !decide("t", hasFailed: true))
    held.setHolds(true, "t")
    #expect(!held.holds(run(2)))
    held.began(run(3))
    #expect(held.holds(run(3)))
  }

  @Test func `a run of a removed task that was stopped has not failed`() throws {
    let reporter = RunReporter(Console(shown: .problem, isColored: false), directory: "/p")
    reporter.setPlan(try projectPlan("t: { run: 'x' }"))
    #expect(!reporter.hasFailed("gone", .signaled(.terminate), .stopped))
    #expect(reporter.hasFailed("gone", .exited(1), .byItself))
    #expect(!reporter.hasFailed("gone", .exited(0), .byItself))
  }

  @Test mutating func `other tasks and hooks print at once`() {
    held.began(run())
    held.began(run(1, "u"))
    #expect(!held.holds(run(1, "u")))
    #expect(!held.holds(run(1, "t", .hook)))
    #expect(!decide("u", hasFailed: true))
  }
}
