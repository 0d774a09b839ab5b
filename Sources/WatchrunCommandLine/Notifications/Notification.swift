import ActionRunning
import Diagnostics
import Support
import SystemCalls
import WatchrunSettings

/// What a notification says about a run, or about a round of tasks.
struct Notification: Hashable, Sendable {
  let title: String
  let body: String
  let isSuccess: Bool

  private static let longestTitle = 80
  private static let longestBody = 200

  /// Text for a control sequence or a program: without control characters, and not too long.
  private init(_ title: String, _ body: String, isSuccess: Bool) {
    self.title = Self.abridged(title, to: Self.longestTitle)
    self.body = Self.abridged(body, to: Self.longestBody)
    self.isSuccess = isSuccess
  }

  private static func abridged(_ text: String, to length: Int) -> String {
    let shown = text.printable
    return shown.count <= length ? shown : shown.prefix(length - 1) + "…"
  }
}

extension Notification {
  /// What a report says about the command of a command line, or about its build. `nil` if it does not end a
  /// run: a hook, a build that is followed by the command, or a run that was stopped for the next one.
  init?(_ report: TaskReport, of text: TaskText, in directory: Path) {
    let place = Self.place(directory)
    let name = text.role == .build ? "the build" : text.shownCommand
    switch report {
    case .run(_, .ended(_, _, .stopped)):
      return nil
    case .run(let run, .ended(let status, let duration, let ending)):
      if run.job == .hook { return nil }
      if text.role == .build && status.isSuccess && ending != .timedOut { return nil }
      let (what, how) =
        switch (status, ending) {
        case (_, .timedOut): ("timed out", "after")
        case (.exited(0), _): ("succeeded", "in")
        case (.exited(let code), _): ("failed", "with status \(code) after")
        case (.signaled(let signal), _): ("failed", "killed by \(signal) after")
        }
      self.init(
        "\(name) \(what)", "\(how) \(duration.shortDescription), \(place)",
        isSuccess: what == "succeeded")
    case .run(let run, .notStarted(let error, _)):
      if run.job == .hook { return nil }
      self.init("\(name) cannot be run", "\(error.reason), \(place)", isSuccess: false)
    default:
      return nil
    }
  }

  /// `nil` for a round in which nothing has ended by itself.
  init?(_ round: TaskRound, in directory: Path) {
    let failed = round.entries.filter { $0.outcome.isSuccess == false }
    let succeeded = round.entries.filter { $0.outcome.isSuccess == true }
    let ended = failed.isEmpty ? succeeded : failed
    guard let first = ended.first else { return nil }
    let more = ended.count == 1 ? "" : " and \(ended.count - 1) more"
    let outcomes = round.entries.map { "\($0.name) \($0.outcome.words)" }.joined(separator: " · ")
    self.init(
      "\(first.name)\(more) \(failed.isEmpty ? "succeeded" : "failed")",
      "\(outcomes), \(Self.place(directory))", isSuccess: failed.isEmpty)
  }

  /// The same with an error at its end.
  func naming(_ error: Diagnostic, in directory: Path) -> Notification {
    Notification(title, "\(body): \(error.text(in: directory))", isSuccess: isSuccess)
  }

  private static func place(_ directory: Path) -> String {
    let name = Array(directory.lastComponent)
    return "in \(name.isEmpty ? directory : Path(bytes: name))"
  }
}

extension TaskReport {
  /// The tasks that fail by the end of a run or a round.
  var failedTasks: [String] {
    switch self {
    case .run(let run, .ended(let status, _, _)): status.isSuccess ? [] : [run.task]
    case .round(.ended(let round)):
      round.entries.filter { $0.outcome.isSuccess == false }.map(\.name)
    default: []
    }
  }
}

extension TaskRound.Outcome {
  /// `nil` if the task has not run to an end.
  fileprivate var isSuccess: Bool? {
    switch self {
    case .succeeded, .fresh, .ready: true
    case .failed, .notReady: false
    case .cancelled, .skipped, .kept: nil
    }
  }
}

/// Decides after which runs the user is notified.
struct NotificationRule {
  private var hasSucceeded: Bool?

  /// Returns whether a notification is due for a run that has ended.
  ///
  /// - Parameter isRed: Whether another task is still red, so that a success mends nothing.
  mutating func isDue(
    afterSuccess isSuccess: Bool, whileOthersAreRed isRed: Bool = false, _ mode: NotifyMode
  ) -> Bool {
    if isSuccess && isRed { return mode == .always }
    defer { hasSucceeded = isSuccess }
    // A first success is no change.
    let wasSuccess = hasSucceeded ?? true
    switch mode {
    case .never: return false
    case .failure: return !isSuccess || !wasSuccess
    case .change: return isSuccess != wasSuccess
    case .always: return true
    }
  }
}
