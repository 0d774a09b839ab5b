import FileObservation
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// What a runner records.
struct FreshRunnerTests {
  private func task(_ directory: Path, _ line: String, _ variables: [String] = []) -> TaskDefinition
  {
    var task = TaskDefinition("a", in: directory, line, watch: ["in"])
    task.triggers.writes = DeclaredWrites(["/out"], base: directory)
    task.isFreshAllowed = true
    task.sharedVariables = variables.map { .init($0, "1") }
    return task
  }

  private let untilGo = "echo > out; touch began; until test -e go; do sleep 0.1; done; "

  /// The number of records after a run, during which `change` is called.
  private func records(
    after line: String, _ change: (RunningTasks) throws -> Void = { _ in }
  ) async throws -> Int {
    let records = try TemporaryDirectory()
    var options = TaskRunner.Options(completion: .firstRun)
    options.freshness = FreshTasks(
      of: "/p", in: records.path, observation: ObserverOptions(), isObserved: false, isUsed: true)
    let tasks = try RunningTasks(options: options) { [task($0, untilGo + line)] }
    try tasks.directory.write(to: "in")
    tasks.runner.start()
    #expect(await eventually { fileExists(tasks.directory["began"]) })
    try change(tasks)
    try tasks.directory.write(to: "go")
    #expect(await eventually { tasks.isFinished })
    return FreshRecordFile(of: "/p", in: records.path).records.count
  }

  @Test func `a success is recorded, and no failure`() async throws {
    try await #expect(records(after: "true") == 1)
    try await #expect(records(after: "exit 1") == 0)
  }

  @Test func `a run that began with another definition of its task is not recorded`() async throws {
    let count = try await records(after: "true") { tasks in
      let changed = task(tasks.directory.path, untilGo + "true", ["A"])
      tasks.runner.replaceGraph(try TaskGraph([changed], jobs: 4))
      tasks.runner.queue.sync {}
      #expect(tasks.runs(of: "a").count == 1)
    }
    #expect(count == 0)
  }
}
