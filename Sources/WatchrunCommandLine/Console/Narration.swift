import ActionRunning
import FileObservation
import SystemCalls

/// Puts into words what observer and queue report.
struct Narration: Sendable {
  let console: Console
  /// The command, as it is shown.
  let command: String
  /// From where paths are shown.
  let directory: Path

  init(console: Console, command: [[UInt8]], directory: Path) {
    self.console = console
    self.command = command.map { Path(bytes: $0).description }.joined(separator: " ")
    self.directory = directory
  }

  func tell(_ report: RunReport) {
    switch report {
    case .started(let run):
      console.say(.news, "running \(command)\(reason(of: run.trigger))", style: .faint)
    case .ended(_, let status, let duration, let wasStopped):
      tellEnd(status, after: duration.forPeople, wasStopped: wasStopped)
    case .notStarted(_, let error, _):
      console.problem("cannot run \(command): \(explanation(of: error))")
    case .stopping(let signal):
      console.say(.detail, "stopping it with \(signal)", style: .faint)
    case .killing:
      console.say(.news, "it did not end in time: killing it", style: .warning)
    case .signaled(let signal, let trigger):
      console.say(.news, "sent it \(signal)\(reason(of: trigger))", style: .faint)
    case .foundOwnOutputs(let paths):
      console.say(
        .problem,
        "the command itself writes \(listed(paths)): changes to it during a run start no other; "
          + "to ignore it: \(ignoreOptions(paths))", style: .warning)
    case .restartsItself(let paths):
      console.say(
        .problem,
        "changes to \(listed(paths)) restart the command over and over; if it writes that itself: "
          + ignoreOptions(paths), style: .warning)
    case .finished:
      break
    }
  }

  func tell(_ readiness: FileObserver.Readiness) {
    let folders = readiness.watches == 1 ? "1 folder" : "\(readiness.watches) folders"
    console.say(
      .detail, "watching \(folders) with \(readiness.backend), \(readiness.pruned) left out",
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

  func tell(_ batch: ChangeBatch) {
    for change in batch.changes {
      let from = change.from.map { " from \(shown($0))" } ?? ""
      console.say(.detail, "\(change.kind.rawValue) \(shown(change.path))\(from)", style: .faint)
    }
  }

  private func tellEnd(_ status: ExitStatus, after duration: String, wasStopped: Bool) {
    switch status {
    case _ where wasStopped:
      console.say(.news, "stopped after \(duration)", style: .faint)
    case .exited(0):
      console.say(.news, "succeeded in \(duration)", style: .good)
    case .exited(let code):
      console.say(.news, "failed with status \(code) after \(duration)", style: .bad)
    case .signaled(let signal):
      console.say(.news, "ended by \(signal) after \(duration)", style: .bad)
    }
  }

  /// " (Sources/a.swift and 3 more changed)".
  private func reason(of trigger: Trigger) -> String {
    guard let first = trigger.changes.first else { return "" }
    let more = trigger.changes.count - 1
    return " (\(shown(first.path))\(more == 0 ? "" : " and \(more) more") changed)"
  }

  private func listed(_ paths: [Path]) -> String {
    let more = paths.count - 3
    return paths.prefix(3).map(shown).joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }

  private func ignoreOptions(_ paths: [Path]) -> String {
    paths.prefix(3).map { "-i '/\(shown($0))'" }.joined(separator: " ")
  }

  private func explanation(of error: SystemError) -> String {
    switch error.code {
    case ENOENT: "\(error.path?.description ?? "it") is not found; is it installed and in PATH?"
    case EACCES: "\(error.path?.description ?? "it") may not be executed"
    default: error.description
    }
  }

  func shown(_ path: Path) -> String {
    (path.relative(to: directory) ?? path).description
  }
}
