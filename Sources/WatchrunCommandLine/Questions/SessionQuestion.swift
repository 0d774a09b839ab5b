import Diagnostics
import SessionControl
import Support
import SystemCalls
import WatchrunSettings

/// Asks the sessions of a directory, and prints their answers.
struct SessionQuestion {
  private let request: SessionRequest
  private let printsJSON: Bool
  /// Whether the output of tasks may have colours.
  private let isColored: Bool

  init(_ settings: Settings, _ verb: SessionRequest.Verb) {
    var request = SessionRequest(
      verb, tasks: settings.command.map { $0.decoded })
    request.time = settings.questionTime
    request.lines = settings.outputLines ?? (verb == .logs ? 100_000 : request.lines)
    request.follows = settings.follows
    request.owner = Int(processIDs().parent)
    self.request = request
    printsJSON = settings.answersInJSON
    isColored = Console.isColored(settings.colorMode, STDOUT_FILENO)
  }

  /// Returns the exit status.
  func ask(in directory: Path) throws(Failure) -> Int32 {
    var answers: [(json: [UInt8], answer: SessionAnswer)] = []
    var followed: Result<Int32, Failure>?
    do throws(SessionError) {
      let asked = Instant.now
      var request = request
      let client = try SessionClient(
        in: directory, waiting: request.verb == .wait ? request.time : nil)
      request.time = request.time.map { max(.zero, $0 - asked.duration(to: .now)) }
      if request.follows {
        followed = try follow(client)
      } else {
        answers = try client.ask(request)
        if request.verb == .wait, answers.contains(where: { $0.answer.state == .held }) {
          // Some shells are replaced by their last command, and were the parent of those before.
          var again = request
          again.owner = Int(processIDs().own)
          answers = try client.ask(again)
        }
      }
    } catch {
      var status = ExitCode.noSession
      if case .refused = error { status = ExitCode.usage }
      if error == .noAnswer && request.verb == .wait { status = ExitCode.late }
      throw .launch(error.description, status)
    }
    if let followed { return try followed.get() }
    let isOrder = SessionRequest.Verb.orders.contains(request.verb.rawValue)
    if isOrder && !printsJSON { return ExitCode.success }
    var text: [UInt8] = []
    for (json, answer) in answers {
      if printsJSON {
        text += withoutColors(json, answer) + [UInt8(ascii: "\n")]
      } else {
        text += shown(answer, isNamed: answers.count > 1).utf8
      }
    }
    try writeAnswer(text)
    if !printsJSON { for (_, answer) in answers { sayWhatIsNotRead(in: answer) } }
    return isOrder || request.verb == .logs ? ExitCode.success : Self.status(answers.map(\.answer))
  }

  /// The status of several sessions: whatever keeps one of them from being green at rest.
  static func status(_ answers: [SessionAnswer]) -> Int32 {
    if answers.contains(where: \.isLate) { return ExitCode.late }
    if answers.contains(where: { $0.state != .rest }) { return ExitCode.unsettled }
    if answers.contains(where: \.isRed) { return ExitCode.red }
    // Of what has not run at all, nothing is known.
    return answers.allSatisfy(\.isGreen) ? ExitCode.success : ExitCode.unsettled
  }

  /// Prints what happens until the session ends, or its reader has gone.
  private func follow(_ client: SessionClient) throws(SessionError) -> Result<Int32, Failure> {
    var last: [SessionAnswer] = []
    var lost: Failure?
    var status: Int32 = ExitCode.success
    var hasRun = false
    try client.follow(request) { json, message in
      var text = json.decoded + "\n"
      switch message {
      case .answer(let answer):
        text = withoutColors(json, answer).decoded + "\n"
        last.append(answer)
        status = Self.status(last)
        hasRun = answer.tasks.isEmpty || answer.tasks.contains { $0.state != "pending" }
        if !printsJSON {
          text = shown(answer, isNamed: false)
          sayWhatIsNotRead(in: answer)
        }
      case .event(let event):
        Self.follow(event, &status, hasRun: &hasRun)
        if !printsJSON {
          let isAlone = event.kind == .output && last.first?.tasks.count == 1
          text = colored(isAlone ? event.text : event.line) + "\n"
        } else if event.text.utf8.contains(0x1B) {
          var plain = event
          plain.text = Self.plain(event.text)
          text = plain.json.decoded + "\n"
        }
      }
      do throws(Failure) {
        return try writeAnswer(Array(text.utf8))
      } catch {
        lost = error
        return false
      }
    }
    if let lost { return .failure(lost) }
    return .success(request.verb == .logs ? ExitCode.success : status)
  }

  /// Sets the exit status after an event.
  static func follow(_ event: SessionEvent, _ status: inout Int32, hasRun: inout Bool) {
    if event.kind == .ended && ["succeeded", "ready"].contains(event.text) { hasRun = true }
    guard event.kind == .state else { return }
    let green = hasRun ? ExitCode.success : ExitCode.unsettled
    status =
      event.text != "rest" ? ExitCode.unsettled : event.isGreen == false ? ExitCode.red : green
  }

  // MARK: - Text

  /// Says why output is missing in an answer.
  private func sayWhatIsNotRead(in answer: SessionAnswer) {
    if let note = Self.note(on: answer, isAboutAll: request.verb == .logs) {
      sayWithoutThreads(note)
    }
  }

  /// Says which output is missing, of that which has been asked for.
  static func note(on answer: SessionAnswer, isAboutAll: Bool) -> String? {
    let names = answer.tasks.filter { !$0.isOutputRead && (isAboutAll || $0.state == "failed") }
      .map(\.name.printable)
    if names.isEmpty { return nil }
    return
      "the output of \(names.joined(separator: ", ")) goes to where watchrun writes, and is not "
      + "kept; to keep it, start watchrun with --output failed or --diagnostics FILE"
  }

  private func shown(_ answer: SessionAnswer, isNamed: Bool) -> String {
    colored(
      request.verb == .logs ? Self.logs(of: answer) : Self.text(of: answer, isNamed: isNamed))
  }

  /// Programs do not look at colours.
  private func withoutColors(_ json: [UInt8], _ answer: SessionAnswer) -> [UInt8] {
    var plain = answer
    for index in plain.tasks.indices {
      plain.tasks[index].output = answer.tasks[index].output.map(Self.plain)
    }
    return plain == answer ? json : plain.json
  }

  /// The text without colours, unless they may be shown: then they end with each line.
  private func colored(_ text: String) -> String {
    if !isColored || !text.utf8.contains(0x1B) { return Self.plain(text) }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.utf8.contains(0x1B) ? line + "\u{1B}[0m" : line
    }.joined(separator: "\n")
  }

  private static func plain(_ text: String) -> String {
    if !text.utf8.contains(0x1B) { return text }
    return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: TerminalLine($0).text, as: UTF8.self) }.joined(separator: "\n")
  }

  /// The output of one task, or that of several, each after its name.
  static func logs(of answer: SessionAnswer) -> String {
    let lines = answer.tasks.flatMap { task in
      (answer.tasks.count > 1 ? ["==> \(task.name.printable) <=="] : []) + task.output
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// - Parameter isNamed: Whether the session must be told from others.
  static func text(of answer: SessionAnswer, isNamed: Bool) -> String {
    var lines: [String] = []
    if isNamed { lines.append("session \(answer.process): \(answer.command.printable)") }
    if let problem = answer.problem { lines.append("out of date: \(problem.printable)") }
    for task in answer.tasks {
      lines.append("\(task.name.printable): \(words(for: task))\(counts(in: task))")
      lines += listed(task, in: answer.directory).map { "  " + $0 }
      lines += task.output.map { "  " + $0 }
    }
    // An output starts nothing, so that there is nothing to do about it.
    for entry in answer.pending where entry.cause != "nextRun" {
      lines.append("\(entry.task.printable): \(entry.text.printable)")
    }
    switch answer.state {
    case .rest:
      if answer.isLate { lines.append("the time is over before all changes have arrived") }
    case .busy: if answer.isLate { lines.append("not at rest yet: the time is over") }
    case .paused: lines.append("paused: the key p, or watchrun --send resume, ends that")
    case .held: lines.append("held: watchrun --send release ends that")
    }
    if lines.isEmpty { lines = ["no tasks"] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func diagnostics(in task: SessionAnswer.Task) -> [Diagnostic] {
    task.state == "running" ? [] : task.diagnostics
  }

  /// `: 2 errors, 1 warning`.
  private static func counts(in task: SessionAnswer.Task) -> String {
    DiagnosticSummary(diagnostics(in: task), before: []).map { ": \($0.counts)" } ?? ""
  }

  /// The errors of a task that has failed, unless its output shows them.
  private static func listed(_ task: SessionAnswer.Task, in directory: Path) -> [String] {
    guard task.state == "failed" else { return [] }
    let shown = Array(task.output.joined(separator: "\n").utf8)
    return diagnostics(in: task).filter {
      $0.severity == .error && shown.firstIndex(of: $0.message) == nil
    }.map { $0.quickfixLine(in: directory) }
  }

  static func words(for task: SessionAnswer.Task) -> String {
    let time = task.duration?.shortDescription
    switch task.state {
    case "succeeded" where task.isFresh: return "fresh, not run"
    case "succeeded": return "succeeded" + (time.map { " in \($0)" } ?? "")
    case "failed" where task.isTimedOut: return "timed out" + (time.map { " after \($0)" } ?? "")
    case "failed":
      let status = task.status.map { " with status \($0)" } ?? ""
      // A service that ends by itself has failed, whatever its status.
      return (task.status == 0 ? "ended" : "failed") + status + (time.map { " after \($0)" } ?? "")
    case "running": return "running" + (time.map { " for \($0)" } ?? "")
    case "skipped": return "skipped, since a task that it depends on failed"
    case "pending": return "has not run yet"
    default: return task.state.printable
    }
  }
}

extension SessionEvent {
  /// The event for people.
  var line: String {
    let prefix = task.map { "\($0.printable): " } ?? ""
    let time = milliseconds.map { Duration.milliseconds($0).shortDescription } ?? ""
    switch kind {
    case .roundBegan:
      return "round: \(text)" + (changes.isEmpty ? "" : " (\(changes.joined(separator: ", ")))")
    case .started: return prefix + "started"
    case .stopping: return prefix + "stopping"
    case .ended:
      let code = text == "failed" ? status.map { " with status \($0)" } ?? "" : ""
      return prefix + text + code + (milliseconds == 0 ? "" : " after \(time)")
    case .roundEnded: return "round ended: \(isGreen == true ? "succeeded" : "failed")"
    case .state: return "state: \(text)" + (isGreen == false ? ", red" : "")
    case .output: return prefix + text
    }
  }
}
