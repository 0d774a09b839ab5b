import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine
@testable import WatchrunSettings

/// The reports of a runner that runs the plan of a command line.
struct PlanRunTests {
  private let reports = Log<TaskReport>()

  /// Runs a plan, stops it as by the key `s` when its last task has started, and ends it when it is idle.
  private func run(_ words: String...) async throws -> [String] {
    let words = words.map { Array($0.utf8) }
    let plan = try SessionPlan(OptionParser.parse(words), in: "/")
    let runner = TaskRunner(plan.graph) { [reports] in reports.note($0) }
    runner.start()
    #expect(await has("+\(plan.command ?? "")"))
    runner.stop()
    #expect(await has("-\(plan.command ?? "")"))
    #expect(await has("idle", after: "stopping"))
    runner.end()
    #expect(await has("finished"))
    return shown
  }

  private var shown: [String] { reports.entries.compactMap(Self.shown) }

  private func has(_ report: String, after earlier: String = "round") async -> Bool {
    await eventually {
      shown.drop { $0 != earlier }.contains(report)
    }
  }

  private static func shown(_ report: TaskReport) -> String? {
    switch report {
    case .round(.began): "round"
    case .run(let run, .started): "+\(run.task)"
    case .run(let run, .ended(_, _, .stopped)): "-\(run.task)"
    case .run(_, .stopping): "stopping"
    case .round(.ended): "end"
    case .runner(.idle): "idle"
    case .runner(.finished): "finished"
    default: nil
    }
  }

  @Test func `a command that is stopped has ended before nothing runs`() async throws {
    #expect(
      try await run("--", "sleep", "1000") == [
        "round", "+sleep", "stopping", "-sleep", "end", "idle", "finished",
      ])
  }

  /// A round would clear the screen, and make the key `e` forget the run.
  @Test func `stopping a server is no round, and nothing is idle before its end`() async throws {
    let reports = try await run("-r", "--", "sleep", "1000")
    #expect(reports.count { $0 == "round" } == 1 && reports.count { $0 == "end" } == 1)
    let end = try #require(reports.firstIndex(of: "-sleep"))
    #expect(reports.suffix(from: end).contains("idle"))
    #expect(!reports.prefix(end).drop { $0 != "stopping" }.contains("idle"))
  }
}
