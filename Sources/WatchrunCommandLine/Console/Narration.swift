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
  /// The task that it is about, where there is more than one.
  let task: TaskLabel?

  init(console: Console, command: [[UInt8]], directory: Path, task: TaskLabel? = nil) {
    self.console = console
    self.command = command.map { Path(bytes: $0).description }.joined(separator: " ")
    self.directory = directory
    self.task = task
  }

  /// Says something of the command.
  func say(_ level: Console.Level, _ text: String, style: Console.Style = .plain) {
    if let task {
      console.say(level, of: task, text, style: style)
    } else {
      console.say(level, text, style: style)
    }
  }

  /// Passes on a line of the command's output.
  func pass(_ line: [UInt8]) {
    if let task {
      console.pass(line, of: task)
    } else {
      console.pass(line)
    }
  }

  func tell(_ report: RunReport) {
    switch report {
    case .started(let run):
      tellStart(run)
    case .output(_, let line):
      pass(line)
    case .ended(let run, let status, let duration, let ending):
      tellEnd(of: run.job, status, after: duration.forPeople, ending)
    case .notStarted(let run, let error, _):
      tellNotStarted(run.job, error)
    case .timedOut(_, let time):
      say(.news, "timed out after \(time.forPeople)", style: .bad)
    case .stopping(let job, let signal):
      say(.detail, "stopping \(job.name) with \(signal)", style: .faint)
    case .killing(let job):
      say(.news, "\(job.name) did not end in time: killing it", style: .warning)
    case .abandoned(let job):
      say(
        .problem, "\(job.name) was killed, and the kernel holds it: going on without it",
        style: .warning)
    case .signaled(let signal, let trigger):
      say(.news, "sent it \(signal)\(reason(of: trigger))", style: .faint)
    case .backingOff(let pause):
      say(.news, "starting it again in \(pause.forPeople)", style: .faint)
    case .foundLoop(let loop):
      tell(loop, ignoringBy: { "-i '\($0)'" })
    case .settled, .finished:
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
    for change in batch.changes { console.say(.detail, shown(change), style: .faint) }
  }

  private func tellStart(_ run: RunReport.Run) {
    let reason = reason(of: run.trigger)
    switch run.job {
    case .build:
      say(.news, "building\(reason)", style: .faint)
    case .command:
      say(.news, "running \(command)\(reason)", style: .faint)
    case .hook:
      say(.detail, "running \(run.job.name)", style: .faint)
    }
  }

  func tellNotStarted(_ job: ActionQueue.Job, _ error: SystemError) {
    let what = job == .command ? command : job.name
    say(.problem, "cannot run \(what): \(explanation(of: error))", style: .bad)
  }

  func tellEnd(
    of job: ActionQueue.Job, _ status: ExitStatus, after duration: String,
    _ ending: RunReport.Ending
  ) {
    let name = job == .command ? "" : job.name + " "
    switch (status, ending) {
    case (_, .stopped):
      say(.news, "\(name)stopped after \(duration)", style: .faint)
    case (_, .timedOut):
      say(.detail, "stopped after \(duration)", style: .faint)
    case (.exited(0), .byItself):
      let level = job == .hook ? Console.Level.detail : .news
      say(level, "\(name)succeeded in \(duration)", style: .good)
    case (.exited(let code), .byItself):
      say(.news, "\(name)failed with status \(code) after \(duration)", style: .bad)
    case (.signaled(let signal), .byItself):
      say(.news, "\(name)ended by \(signal) after \(duration)", style: .bad)
    }
  }

  /// " (Sources/a.swift and 3 more changed)".
  private func reason(of trigger: RunTrigger) -> String {
    guard let first = trigger.changes.first else { return "" }
    let more = trigger.changes.count - 1
    return " (\(shown(first.path))\(more == 0 ? "" : " and \(more) more") changed)"
  }

  /// Announces the first delayed run.
  ///
  /// - Parameter ignore: How a pattern is ignored.
  func tell(_ loop: FeedbackLoop, ignoringBy ignore: (_ pattern: String) -> String) {
    let pattern = loop.pattern
    let changed = "\(shown(loop.path))\(loop.entries.isEmpty ? "" : "/\(pattern)")"
    let name = changed.hasPrefix("./") ? String(changed.dropFirst(2)) : changed
    say(
      .problem,
      "each run changes \(name): running again for that in \(loop.delay.forPeople) "
        + "(r: now; never: \(ignore("/" + name)))", style: .warning)
  }

  private func explanation(of error: SystemError) -> String {
    if error.call == "chdir", let path = error.path {
      return "its directory \(shown(path)) "
        + (error.isNotFound ? "is not there" : "cannot be entered: \(error.reason)")
    }
    return switch error.code {
    case ENOENT: "\(error.path?.description ?? "it") is not found; is it installed and in PATH?"
    case EACCES: "\(error.path?.description ?? "it") may not be executed"
    case E2BIG: "its arguments and its environment are longer than the kernel takes"
    case ETXTBSY: "\(error.path?.description ?? "it") is being written by somebody"
    default: error.description
    }
  }

  private func shown(_ change: ChangeBatch.Change) -> String {
    let from = change.from.map { " from \(shown($0))" } ?? ""
    return "\(change.kind.rawValue) \(shown(change.path))\(from)"
  }

  func shown(_ path: Path) -> String {
    (path.relative(to: directory) ?? path).description
  }
}

extension ActionQueue.Job {
  /// What it is called.
  fileprivate var name: String {
    switch self {
    case .build: "the build"
    case .command: "it"
    case .hook: "the hook"
    }
  }
}

extension RunReport {
  /// True for what comes first on a change.
  func beginsAnew(withBuild hasBuild: Bool) -> Bool {
    guard case .started(let run) = self else { return false }
    return run.job == (hasBuild && run.trigger.reason != .restart ? .build : .command)
  }
}

extension FeedbackLoop {
  /// A pattern for the entries that are created or removed, by what the names of two of them share.
  fileprivate var pattern: String {
    let names = entries.map { String(decoding: $0.lastComponent, as: UTF8.self) }
    guard let first = names.first, let last = names.last else { return "" }
    if first == last { return first }
    let prefix = first.commonPrefix(with: last)
    let ends = (String(first.reversed()), String(last.reversed()))
    let suffix = String(ends.0.commonPrefix(with: ends.1).reversed())
    let isShort = prefix.count + suffix.count >= min(first.count, last.count)
    return prefix + "*" + (isShort ? "" : suffix)
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
