import ActionRunning
import FileObservation
import SessionControl
import SystemCalls
import WatchrunSettings

// Reports of an observer, and answers to keys.

extension RunReporter {
  func report(_ readiness: FileObserver.Readiness) {
    // What is polled has no watches.
    let directories =
      switch readiness.watches {
      case 0: ""
      case 1: "1 directory "
      default: "\(readiness.watches) directories "
      }
    console.say(
      .detail, "watching \(directories)with \(readiness.backend); ignoring \(readiness.pruned)",
      style: .faint)
    for file in readiness.ignoreFiles {
      console.say(.detail, "ignore rules from \(shown(file.path))", style: .faint)
      for rule in file.rules {
        guard let defect = rule.pattern.defect else { continue }
        console.say(
          .detail, "\(shown(file.path)):\(rule.line): the pattern '\(rule.pattern)' \(defect)",
          style: .warning)
      }
    }
  }

  func report(_ batch: ChangeBatch) {
    console.say(changes: batch.changes.map(shown))
  }

  private static let maximumListedChanges = 20

  /// The size of the pseudo-terminal for the output of a task; `nil` for a pipe. The name of the task
  /// and the time take a part of the lines.
  func terminalSize(of task: String) -> Terminal.Size? {
    guard text(of: task).usesPseudoTerminal else { return nil }
    var size = Console.terminalSize ?? Terminal.Size(columns: 80, rows: 24)
    let time = console.showsTimes ? LocalTime.now.prefix.count : 0
    let taken = time + (label(of: task)?.columns ?? 0)
    if size.columns > taken { size.columns -= taken }
    return size
  }

  func listKeys() {
    for line in Key.listing(isAlone: isAlone) { console.say(.answer, line) }
  }

  /// Shows the output of the latest run of a task again.
  func show(_ task: SessionAnswer.Task) {
    let hasPrinted = !task.output.isEmpty
    let words = SessionQuestion.words(for: task)
    say(.answer, task.name, words + (hasPrinted ? "; its output:" : "; no output of it is known"))
    if hasPrinted { console.write(task.output, of: label(of: task.name)) }
  }

  func reportPause(_ isPaused: Bool) {
    console.say(.answer, isPaused ? "paused: changes start nothing until you press p" : "resumed")
  }

  func reportHold(_ isHeld: Bool) {
    console.say(
      .news,
      isHeld ? "held by another program: changes start nothing until it is done" : "released",
      style: .faint)
  }

  /// Reports why a run was started, of a task with these direct dependencies, and the changes that it received.
  func explain(_ run: TaskReport.Run, after dependencies: [String]) {
    let changes = run.trigger.changes
    let owner = isAlone ? "" : " of \(run.task)"
    let cause = cause(of: run.trigger, after: isAlone ? [] : dependencies)
    console.say(.answer, "run \(run.number)\(owner) started \(cause)\(changes.isEmpty ? "" : ":")")
    for change in changes.prefix(Self.maximumListedChanges) {
      console.say(.answer, "  \(shown(change))")
    }
    let more = changes.count - Self.maximumListedChanges
    if more > 0 { console.say(.answer, "  and \(more) more") }
  }

  private func cause(of trigger: RunTrigger, after dependencies: [String]) -> String {
    let count = trigger.changes.count
    let changes = counted(count, "change")
    if trigger.batch.overflow {
      return "because the kernel dropped events" + (count > 0 ? ", after" : "")
    }
    switch trigger.reason {
    case .start: return "when watchrun did"
    case .key: return "by a key" + (count > 0 ? ", with \(changes)" : "")
    case .restart: return "again because the command had ended"
    case .change where count > 0: return "because of \(changes)"
    case .change where dependencies.isEmpty: return "because its dependencies succeeded"
    case .change: return "because \(dependencies.joined(separator: " and ")) succeeded"
    }
  }
}
