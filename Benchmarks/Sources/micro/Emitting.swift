@testable import ActionRunning
@testable import FileObservation
import SystemCalls

/// A batch on its way to a command or a reader.
let emitting = [
  Benchmark(name: "json-change", operations: 1000) {
    let batch = batch(of: 1000)
    return { use(JSONText.batch(batch)) }
  },
  Benchmark(name: "request-1-path", operations: 100) { request(paths: 1, times: 100) },
  Benchmark(name: "request-1000-paths", operations: 1) { request(paths: 1000, times: 1) },
]

private func batch(of count: Int) -> ChangeBatch {
  let changes = (0..<count).map { number in
    ChangeBatch.Change(
      path: Path("/project/Sources/Module\(number % 40)/deep/\(fileName(number))"),
      kind: .modified, type: .file)
  }
  return ChangeBatch(number: 1, changes: changes)
}

/// The spawn request of a command, with an environment of typical size.
private func request(paths: Int, times: Int) -> () -> Void {
  let trigger = RunTrigger(.change, batch(of: paths))
  let command = Command("swift", "test").describingChanges()
  var context = Command.LaunchContext(currentDirectory: "/project")
  context.inherited = (0..<40).map { Array("VARIABLE_\($0)=its value, \($0)".utf8) }
  return {
    for _ in 0..<times { use(command.spawnRequest(for: trigger, in: context)) }
  }
}
