import ActionRunning
import FileObservation

func runOneCommand() async throws {
  let observer = try FileObserver(paths: ["Sources"])
  let queue = ActionQueue(Command("swift", "build"), source: observer) { report in
    if case .ended(_, let status, let duration, _) = report { print(status, duration) }
  }
  queue.submit(RunTrigger(.start))
  for try await batch in observer.batches { queue.submit(RunTrigger(batch)) }
}

func configure(guardian: Guardian) -> ActionQueue {
  var command = Command("./server", "--port", "8080")
  command.directory = "/project"
  command.environment = [.init(name: Array("DEBUG".utf8), value: Array("1".utf8))]

  var options = ActionQueue.Options(
    busyPolicy: .restart, stopPlan: StopPlan(signal: .interrupt, timeout: .seconds(3)))
  options.build = Command("make", "server")
  options.timeout = .seconds(60)
  options.keepsAlive = true
  options.readsOutput = true

  options.guardian = guardian
  options.completion = .firstFailure
  return ActionQueue(command, options: options) { describe($0) }
}

func runTasks(_ observer: FileObserver) async throws {
  let sources = TaskTriggers(watched: [WatchedPath("/project/Sources")])
  let graph = try TaskGraph(
    [
      TaskDefinition("build", Command("swift", "build"), triggers: sources),
      TaskDefinition("test", Command("swift", "test"), dependencies: ["build"]),
      TaskDefinition(
        "server", Command(".build/debug/App"), dependencies: ["build"], isService: true,
        readiness: .init(.port(8080))),
    ], jobs: 2)

  let runner = TaskRunner(graph, source: observer) { report in
    switch report {
    case .output(let task, let line): print(task, String(decoding: line, as: UTF8.self))
    case .skipped(let task, let cause): print(task, "skipped because of", cause.task)
    case .roundEnded(let round): print(round.entries.map(\.name), round.status)
    default: break
    }
  }
  runner.start()
  for try await batch in observer.batches { runner.submit(batch) }
  runner.end()
}

func describe(_ report: RunReport) {
  switch report {
  case .started(let run): print(run.number, run.trigger.reason)
  case .output(let run, let line): print(run.job, String(decoding: line, as: UTF8.self))
  case .ended(let run, let status, let duration, let ending):
    print(run.number, status.isSuccess, duration, ending)
  case .notStarted(_, let error, let status): print(error, status)
  case .foundLoop(let loop): print(loop)
  case .finished(let status): print(status?.code ?? 0)
  default: break
  }
}
