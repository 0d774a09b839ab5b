// The library in another program: waits for the first change in a directory, and runs a command.
//
//   observe DIRECTORY COMMAND [ARGUMENT...]

import ActionRunning
import FileObservation

guard CommandLine.arguments.count > 2 else {
  print("usage: observe DIRECTORY COMMAND [ARGUMENT...]")
  throw Usage.wrong
}
let observer = try FileObserver(paths: [Path(CommandLine.arguments[1])])
for try await event in observer.events {
  switch event {
  case .ready(let readiness): print("ready: \(readiness.watches) watches, \(readiness.backend)")
  case .warning(let warning): print("warning: \(warning)")
  case .changed(let batch):
    for change in batch.changes { print("\(change.kind): \(change.path)") }
    let status = await run(CommandLine.arguments.dropFirst(2), for: batch)
    print("the command ended with \(status.map { "\($0.code)" } ?? "no status")")
    observer.stop()
  }
}

/// Runs a command once, and waits until nothing is left of it.
func run(_ words: ArraySlice<String>, for batch: ChangeBatch) async -> ExitStatus? {
  await withCheckedContinuation { continuation in
    let queue = ActionQueue(
      Command(words: words.map { Array($0.utf8) }),
      options: .init(completion: .firstRun)
    ) { report in
      if case .finished(let status) = report { continuation.resume(returning: status) }
    }
    queue.submit(RunTrigger(batch))
  }
}

enum Usage: Error {
  case wrong
}
