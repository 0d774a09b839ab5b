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
    var command = Command(Array(CommandLine.arguments.dropFirst(2)))
    command.changeDelivery = .environment
    let result = try await command.run(for: batch)
    print("the command ended with \(result.status.code)")
    observer.stop()
  }
}

enum Usage: Error {
  case wrong
}
