import SessionControl
import Support
import SystemCalls

/// Asks the sessions of a directory, and prints their answers.
struct SessionQuestion {
  private let request: SessionRequest
  private let printsJSON: Bool

  init(_ settings: Settings, _ verb: SessionRequest.Verb) {
    var request = SessionRequest(
      verb, tasks: settings.command.map { String(decoding: $0, as: UTF8.self) })
    request.time = settings.questionTime
    request.lines = settings.outputLines ?? request.lines
    request.owner = Int(processIDs().parent)
    self.request = request
    printsJSON = settings.answersInJSON
  }

  /// Returns the exit status.
  func ask(in directory: Path) throws(Failure) -> Int32 {
    let answers: [(json: [UInt8], answer: SessionAnswer)]
    do throws(SessionError) {
      answers = try SessionClient(in: directory).ask(request)
    } catch {
      var status = ExitCode.noSession
      if case .refused = error { status = ExitCode.usage }
      throw Failure(error.description, status)
    }
    let isOrder = SessionRequest.Verb.orders.contains(request.verb.rawValue)
    if isOrder && !printsJSON { return ExitCode.success }
    var text: [UInt8] = []
    for (json, answer) in answers {
      if printsJSON {
        text += json + [UInt8(ascii: "\n")]
      } else {
        text += Self.text(of: answer, isNamed: answers.count > 1).utf8
      }
    }
    try writeAnswer(text)
    return isOrder ? ExitCode.success : Self.status(answers.map(\.answer))
  }

  /// The status of several sessions: whatever keeps one of them from being green at rest.
  static func status(_ answers: [SessionAnswer]) -> Int32 {
    if answers.contains(where: \.isLate) { return ExitCode.late }
    if answers.contains(where: { $0.state != .rest }) { return ExitCode.unsettled }
    return answers.allSatisfy(\.isGreen) ? ExitCode.success : ExitCode.red
  }

  // MARK: - Text

  /// - Parameter isNamed: Whether the session must be told from others.
  static func text(of answer: SessionAnswer, isNamed: Bool) -> String {
    var lines: [String] = []
    if isNamed { lines.append("session \(answer.process): \(Path(answer.command))") }
    for task in answer.tasks {
      lines.append("\(Path(task.name)): \(words(for: task))")
      lines += task.output.map { "  " + $0 }
    }
    for entry in answer.pending { lines.append("\(Path(entry.task)): \(Path(entry.text))") }
    switch answer.state {
    case .rest: break
    case .busy: if answer.isLate { lines.append("not at rest yet: the time is over") }
    case .paused: lines.append("paused: the key p, or watchrun --send resume, ends that")
    case .held: lines.append("held: watchrun --send release ends that")
    }
    if lines.isEmpty { lines = ["no tasks"] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func words(for task: SessionAnswer.Task) -> String {
    let time = task.milliseconds.map { Duration.milliseconds($0).shortDescription }
    switch task.state {
    case "succeeded": return "succeeded" + (time.map { " in \($0)" } ?? "")
    case "failed":
      let status = task.status.map { " with status \($0)" } ?? ""
      return "failed\(status)" + (time.map { " after \($0)" } ?? "")
    case "running":
      guard let began = task.startedAt else { return "running" }
      let now = Int(FileTime.now().nanoseconds / 1_000_000)
      return "running for \(Duration.milliseconds(max(0, now - began)).shortDescription)"
    case "skipped": return "skipped, since a task that it depends on failed"
    case "pending": return "has not run yet"
    default: return Path(task.state).description
    }
  }
}
