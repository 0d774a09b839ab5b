import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

struct LogFilesTests {
  @Test func `a full file that others have removed is made again`() throws {
    let directory = try TemporaryDirectory()
    var plan = try projectPlan("t: { run: 'x' }")
    try directory.write(String(repeating: "x", count: 9_999_999), to: "t.log")
    plan.observation.logs = ["t": directory["t.log"]]
    let reporter = RunReporter(Console(shown: .problem, isColored: false), directory: "/p")
    let logs = LogFiles(reporter)
    #expect(logs.setPaths(of: plan) == nil)
    let run = TaskReport.Run(task: "t", job: .command, number: 1, trigger: RunTrigger(.start))
    try directory.remove("t.log")
    for line in ["a", "b"] {
      logs.write(TaskOutput(run: run, line: Array(line.utf8), isFinished: true))
    }
    #expect(directory.lines(of: "t.log") == ["a", "b"])
  }
}
