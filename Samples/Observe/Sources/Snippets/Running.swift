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

  options.guardian = guardian
  options.completion = .firstFailure

  let queue = ActionQueue(command, options: options) { output in
    if output.isFinished { print(output.run.task, String(decoding: output.line, as: UTF8.self)) }
  } report: { report in
    if case .backingOff(_, let pause) = report { print("starting it again in", pause) }
  }
  return queue
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

  let runner = TaskRunner(graph, source: observer) { output in
    if output.isFinished { print(output.run.task, String(decoding: output.line, as: UTF8.self)) }
  } report: { report in
    switch report {
    case .skipped(let task, let cause): print(task, "skipped because of", cause.task)
    case .roundEnded(let round): print(round.entries.map(\.name), round.status)
    default: break
    }
  }
  runner.start()
  for try await batch in observer.batches { runner.submit(batch) }
  runner.end()
}

/// What the articles mention without a block.
func configureTheRest() -> TaskRunner.Options {
  var options = TaskRunner.Options(completion: .firstSuccess, ignoredSignals: [.hangup])
  options.reading = .always
  options.reportsUnwatched = true
  options.reportsSettling = true
  return options
}

func describe(_ report: TaskReport) {
  switch report {
  case .roundBegan(let trigger): print(trigger.reason, trigger.changes.map(\.path))
  case .started(let run) where run.task == ActionQueue.taskNames.build: print("building")
  case .started(let run): print(run.job, run.number, run.trigger.reason)
  case .ended(let run, let status, let duration, let ending):
    print(run.number, status.isSuccess, duration, ending)
  case .notStarted(_, let error, let status): print(error, status)
  case .foundLoop(let loop): print(loop)
  case .waiting(let list):
    for waiting in list where waiting.cause == .pause { print(waiting.name, waiting.trigger) }
  case .finished(let status): print(status?.code ?? 0)
  default: break
  }
}
