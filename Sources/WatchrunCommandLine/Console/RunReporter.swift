import ActionRunning
import FileObservation
import Support
import SystemCalls

/// Writes the reports of an observer and of an action queue to the console.
struct RunReporter: Sendable {
  let console: Console
  /// The command as messages show it, which can be pasted into a shell.
  let command: String
  private let words: [[UInt8]]
  /// Paths are shown relative to this directory.
  let directory: Path
  /// The task that the reports are about, if there is more than one.
  let task: TaskLabel?

  init(console: Console, command: [[UInt8]], directory: Path, task: TaskLabel? = nil) {
    self.console = console
    self.command = ShownCommand.text(command)
    words = command
    self.directory = directory
    self.task = task
  }

  /// Writes a message about the command, with the name of its task if there is more than one.
  func say(_ level: Console.Level, _ text: String, style: Console.Style = .plain) {
    if let task {
      console.say(level, of: task, text, style: style)
    } else {
      console.say(level, text, style: style)
    }
  }

  /// Forwards a line of the command's output, or the beginning of one.
  func write(output line: [UInt8], isFinished: Bool) {
    console.write(output: line, isFinished: isFinished, of: task)
  }

  func report(_ report: RunReport) {
    switch report {
    case .started(let run):
      reportStart(run)
    case .output(_, let line):
      write(output: line, isFinished: true)
    case .unfinishedOutput(_, let line):
      write(output: line, isFinished: false)
    case .ended(let run, let status, let duration, let ending):
      reportEnd(of: run.job, status, after: duration.shortDescription, ending)
    case .notStarted(let run, let error, _):
      reportFailedStart(run.job, error)
    case .timedOut(_, let time):
      say(.news, "timed out after \(time.shortDescription)", style: .bad)
    case .stopping(let job, let signal, _):
      say(.detail, "stopping \(job.object) with \(signal)", style: .faint)
    case .abandoned(let job):
      say(
        .problem,
        "\(job.subject)still there after SIGKILL: the kernel holds the process; continuing without it",
        style: .warning)
    case .signaled(let signal, let trigger):
      say(.news, "sent \(signal)\(reason(of: trigger))", style: .faint)
    case .backingOff(let pause):
      say(.news, "restarting in \(pause.shortDescription)", style: .faint)
    case .foundLoop(let loop):
      self.report(loop, ignoringBy: { "-i '\($0)'" })
    case .killing, .gone, .queued, .ignored, .settled, .idle, .finished:
      // `WaitingReporter` reports what waits, and what is killed because it has not ended.
      break
    }
  }

  func report(_ readiness: FileObserver.Readiness) {
    let directories = readiness.watches == 1 ? "1 directory" : "\(readiness.watches) directories"
    console.say(
      .detail, "watching \(directories) with \(readiness.backend); ignoring \(readiness.pruned)",
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
    for change in batch.changes { console.say(.detail, shown(change), style: .faint) }
  }

  private func reportStart(_ run: RunReport.Run) {
    let reason = reason(of: run.trigger)
    switch run.job {
    case .build:
      say(.news, "building\(reason)", style: .faint)
    case .command:
      say(.news, "running \(command)\(reason)", style: .faint)
    case .hook:
      say(.detail, "running the hook", style: .faint)
    }
  }

  func reportFailedStart(_ job: ActionQueue.Job, _ error: SystemError) {
    let name = job == .command ? command : job.object
    say(.problem, "cannot run \(name): \(explanation(of: error, starting: job))", style: .bad)
  }

  func reportEnd(
    of job: ActionQueue.Job, _ status: ExitStatus, after duration: String,
    _ ending: RunReport.Ending
  ) {
    let subject = job.subject
    switch (status, ending) {
    case (_, .stopped):
      say(.news, "\(subject)stopped after \(duration)", style: .faint)
    case (_, .timedOut):
      say(.detail, "stopped after \(duration)", style: .faint)
    case (.exited(0), .byItself):
      let level = job == .hook ? Console.Level.detail : .news
      say(level, "\(subject)succeeded in \(duration)", style: .good)
    case (.exited(let code), .byItself):
      say(.news, "\(subject)failed with status \(code) after \(duration)", style: .bad)
    case (.signaled(let signal), .byItself):
      say(.news, "\(subject)killed by \(signal) after \(duration)", style: .bad)
    }
  }

  /// " (Sources/a.swift and 3 more changed)".
  private func reason(of trigger: RunTrigger) -> String {
    changes(of: trigger).map { " (\($0))" } ?? ""
  }

  /// "Sources/a.swift and 3 more changed".
  func changes(of trigger: RunTrigger) -> String? {
    guard let first = trigger.changes.first else { return nil }
    let more = trigger.changes.count - 1
    return "\(shown(first.path))\(more == 0 ? "" : " and \(more) more") changed"
  }

  /// Reports the first delayed run of a feedback loop.
  ///
  /// - Parameter ignore: How the user ignores a pattern.
  func report(_ loop: FeedbackLoop, ignoringBy ignore: (_ pattern: String) -> String) {
    let pattern = loop.pattern
    let changed = "\(shown(loop.path))\(loop.entries.isEmpty ? "" : "/\(pattern)")"
    let name = changed.hasPrefix("./") ? String(changed.dropFirst(2)) : changed
    say(
      .problem,
      "each run changes \(name): the next one starts in \(loop.delay.shortDescription); "
        + "to ignore it: \(ignore("/" + name))", style: .warning)
  }

  private func explanation(of error: SystemError, starting job: ActionQueue.Job) -> String {
    if error.call == "chdir", let path = error.path {
      return error.isNotFound
        ? "there is no directory \(shown(path))"
        : "cannot enter the directory \(shown(path)): \(error.reason)"
    }
    return LaunchAdvice(words: job == .command ? words : [], directory: directory)
      .explanation(of: error)
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
  /// How messages begin that are about the job: the command goes without saying.
  var subject: String {
    switch self {
    case .build: "the build "
    case .command: ""
    case .hook: "the hook "
    }
  }

  var object: String {
    switch self {
    case .build: "the build"
    case .command: "the command"
    case .hook: "the hook"
    }
  }
}

extension RunReport {
  /// Whether this is the first run that a trigger leads to.
  func beginsAnew(withBuild hasBuild: Bool) -> Bool {
    guard case .started(let run) = self else { return false }
    return run.job == (hasBuild && run.trigger.reason != .restart ? .build : .command)
  }
}

extension FeedbackLoop {
  /// A pattern for the entries that are created or removed: the common prefix and suffix of two of their
  /// names.
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
