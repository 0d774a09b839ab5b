import ActionRunning
import FileObservation

func runOnce() async throws {
  let result = try await Command("git", "status", "--short").run(output: .kept(upTo: 1 << 20))
  print(result.status, result.output.text)
}

func runWithOutputApart() async throws {
  let result = try await Command("make", "-j4").run(
    output: .lines { line in print(String(decoding: line, as: UTF8.self)) },
    errors: .kept(upTo: 65536),
    started: { processID in print("make runs as process \(processID)") })
  if !result.status.isSuccess { print(result.status, result.errors.text) }
}

func runOneCommand() async throws {
  let observer = try FileObserver(paths: ["Sources"])
  let queue = ActionQueue(Command("swift", "build"), source: observer) { report in
    if case .run(_, .ended(let status, let duration, _)) = report { print(status, duration) }
  }
  queue.start()
  for try await batch in observer.batches { queue.submit(batch) }
}

func configure() -> ActionQueue {
  var command = Command("./server", "--port", "8080")
  command.directory = "/project"
  command.environment = ["DEBUG": "1"]
  command.changeDelivery = .json

  var policy = RunPolicy(
    busyPolicy: .restart, stopPlan: StopPlan(signal: .interrupt, timeout: .seconds(3)))
  policy.keepsAlive = true

  let queue = ActionQueue(command, build: Command("make", "server"), policy: policy) { output in
    if output.isFinished { print(output.run.task, String(decoding: output.line, as: UTF8.self)) }
  } report: { report in
    if case .task(_, .backingOff(let pause)) = report { print("starting it again in", pause) }
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
    case .task(let task, .skipped(let cause)): print(task, "skipped because of", cause.task)
    case .round(.ended(let round)): print(round.entries.map(\.name), round.status)
    default: break
    }
  }
  runner.start()
  for try await batch in observer.batches { runner.submit(batch) }
  runner.end()
}

/// What the articles mention without a block.
func configureTheRest(guardian: Guardian) -> TaskRunner.Options {
  var options = TaskRunner.Options(completion: .firstSuccess, ignoredSignals: [.hangup])
  options.guardian = guardian
  options.reading = .always
  return options
}

func describe(_ report: TaskReport) {
  switch report {
  case .round(.began(let trigger)): print(trigger.reason, trigger.changes.map(\.path))
  case .run(let run, .started) where run.task == ActionQueue.taskNames.build: print("building")
  case .run(let run, .started): print(run.job, run.number, run.trigger.reason)
  case .run(let run, .ended(let status, let duration, let ending)):
    print(run.number, status.isSuccess, duration, ending)
  case .run(_, .notStarted(let error, let status)): print(error, status)
  case .changes(.foundLoop(let loop)): print(loop)
  case .runner(.waiting(let list)):
    for waiting in list where waiting.cause == .pause { print(waiting.name, waiting.trigger) }
  case .runner(.finished(let status)): print(status?.code ?? 0)
  default: break
  }
}
