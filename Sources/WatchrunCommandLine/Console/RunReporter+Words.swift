import ActionRunning
import FileObservation
import Support
import SystemCalls

// What messages call changes, outcomes, causes and conflicts.

extension RunReporter {
  /// " (Sources/a.swift and 3 more changed)".
  func reason(of trigger: RunTrigger, duringBuild: Bool = false) -> String {
    let end = duringBuild ? " during the build, which may have missed it" : ""
    return changes(of: trigger).map { " (\($0)\(end))" } ?? ""
  }

  /// "Sources/a.swift and 3 more changed".
  func changes(of trigger: RunTrigger) -> String? {
    trigger.changes.isEmpty ? nil : paths(of: trigger) + " changed"
  }

  /// "Sources/a.swift and 3 more".
  func paths(of trigger: RunTrigger) -> String {
    guard let first = trigger.changes.first else { return "" }
    let more = trigger.changes.count - 1
    return "\(shown(first.path))\(more == 0 ? "" : " and \(more) more")"
  }

  func shown(_ change: ChangeBatch.Change) -> String {
    let from = change.from.map { " from \(shown($0))" } ?? ""
    return "\(change.kind.rawValue) \(shown(change.path))\(from)"
  }

  func shown(_ path: Path) -> String {
    path.shown(in: directory).description
  }
}

extension TaskReport.Cause {
  /// A service that has ended with status 0 has neither succeeded nor failed.
  func words(in picture: SessionPicture?) -> String {
    switch self {
    case .failed(let task): picture?.hasEnded(task) == true ? "\(task) has ended" : "\(task) failed"
    case .notReady(let task): "\(task) is not ready"
    }
  }
}

/// A number with its noun: `1 change`, `2 changes`.
func counted(_ number: Int, _ noun: String) -> String {
  "\(number) \(noun)\(number == 1 ? "" : "s")"
}

extension TaskRound.Outcome {
  /// The outcome in the summary of a round.
  var words: String {
    switch self {
    case .succeeded(let time): "ok \(time.shortDescription)"
    case .fresh: "fresh"
    case .failed(_, let time): "failed \(time.shortDescription)"
    case .ready: "ready"
    case .notReady: "not ready"
    case .cancelled: "stopped"
    case .skipped: "skipped"
    case .kept: "kept"
    }
  }
}

extension TaskDefinition.Readiness {
  /// The readiness condition that was not met in time.
  var failure: String {
    let time = timeout.shortDescription
    return switch condition {
    case .port(let port): "nothing accepts connections on port \(port) after \(time)"
    case .url(let url, _):
      "no successful answer from \(url.printable) after \(time)"
        + (HTTPAddress(url, allowsTLS: true)?.isEncrypted == true && !Connection.canEncrypt
          ? "; https needs OpenSSL 3 (libssl.so.3), which is not installed" : "")
    case .command(let command):
      "\(command.words.shownCommand) has not succeeded after \(time)"
    case .line(let text):
      "no output line contains '\(text.printable)' after \(time); if the program buffers its output, "
        + "try stdbuf -oL, or python3 -u"
    }
  }
}

extension SystemError {
  /// The message about a file for `WATCHRUN_PATHS_FILE`.
  var unwrittenPathsMessage: String {
    "no WATCHRUN_PATHS_FILE for runs: cannot write to \(temporaryFilesDirectory()): \(reason); "
      + "make room there, or set TMPDIR to another directory"
  }
}

extension ReadinessConflict {
  var message: String {
    let process = holder.map { "by \($0.name) (pid \($0.processID))" } ?? "by another process"
    let what =
      switch condition {
      case .port(let port): "port \(port) is already in use"
      case .url(let url, _): "\(url.printable) is already answered"
      case .line(let text): "'\(text.printable)' was already printed"
      case .command(let command): "\(command.words.shownCommand) succeeds already"
      }
    return "not started: \(what) \(process); "
      + "stop that process and the service starts, or use another port; "
      + "if it belongs to the service, set \"existing\": true in \"ready\""
  }
}

extension ChangeExplanation {
  /// The decision about a change during a run, and why.
  var words: String {
    switch decision {
    case .run:
      switch writer {
      case .others: "\(run): saved, no process of the run has done anything meanwhile"
      case .run: "\(run): a process of a run has it open for writing"
      case .unknown: "\(run): it changed during the run"
      }
    case .unchanged: "nothing: it holds what it held when the run began; r runs it"
    case .waits: "waiting: changed by the run, of which it is an output; r runs it"
    }
  }

  private var run: String {
    delay > .zero ? "another run in \(delay.shortDescription)" : "another run"
  }
}

extension Survivor? {
  /// The message that a run, the object of a sentence, could not be stopped. Unless it is awaited, it is left running.
  func message(of run: String, isAwaited: Bool) -> String {
    let process = self.map { "\($0.name) (process \($0.process))" } ?? "a process"
    guard let self, let owner = self.owner else {
      return "cannot stop \(run): the kernel holds \(process), also after SIGKILL; "
        + (isAwaited ? "the next run waits until it has gone" : "it is left behind")
    }
    let sudo = owner == "root" ? "sudo" : "sudo -u \(owner)"
    return "cannot stop \(run): \(process) belongs to \(owner); "
      + (isAwaited
        ? "the next run waits until it has ended; to have it stopped: \(sudo) watchrun …"
        : "it keeps running; to end it: \(sudo) kill \(self.process)")
  }
}
