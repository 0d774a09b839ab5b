import SessionControl

extension Setting {
  static let session: [Setting] = [
    Setting(
      "--wait", .session,
      "Wait until every change made so far has been dealt with, and print the results; "
        + "arguments are tasks",
      .optionalDuration, omitted: .some(nil),
      option: { ($0.task, $0.questionTime) = (.ask(.wait), $1) }),
    flag("--status", .session, "Print the state of the tasks") { $0.task = .ask(.status) },
    Setting(
      "--send", .session,
      "Tell it to run, stop or restart tasks, pause or resume, reload the page, hold changes "
        + "(hold=TIME: for at most TIME, default 30s) or release them", value: "ACTION",
      .order,
      option: { settings, order in
        settings.task = .ask(order.verb)
        settings.questionTime = order.time ?? settings.questionTime
      }),
    flag("--logs", .session, "Print the output of the latest run of each task") {
      $0.task = .ask(.logs)
    },
    Setting(
      "--follow", .session, "With --status or --logs: go on with what happens", .boolean,
      option: { $0.follows = $1 }),
    Setting(
      "--lines", .session, "Print N lines of the output of failed tasks",
      default: "100; with --logs, all",
      .count(0...100_000), option: { $0.outputLines = $1 }),
  ]
}

/// What a session is told to do.
struct SessionOrder: Hashable, Sendable {
  let verb: SessionRequest.Verb
  /// How long changes are held.
  var time: Duration?
}

extension ValueType<SessionOrder> {
  fileprivate static var order: Self {
    Self(.choice(SessionRequest.Verb.orders)) { reader in
      let parts = reader.text.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let word = parts[0].decoded
      guard SessionRequest.Verb.orders.contains(word),
        let verb = SessionRequest.Verb(rawValue: word)
      else {
        reader.note(notOne(of: SessionRequest.Verb.orders, word))
        return nil
      }
      if parts.count == 1 { return SessionOrder(verb: verb) }
      guard verb == .hold else {
        reader.note("\(word) takes no value; only hold=TIME does")
        return nil
      }
      var rest = ValueReader(Array(parts[1]))
      let time = ValueType<Duration>.duration.read(&rest)
      for finding in rest.findings { reader.note(finding.message) }
      if let time, time > SessionRequest.longestHold { reader.note("a hold lasts at most 10m") }
      return SessionOrder(verb: verb, time: time)
    }
  }
}

extension SessionRequest.Verb {
  /// What a session can be told to do.
  package static let orders =
    allCases.filter { ![.wait, .status, .logs].contains($0) }.map(\.rawValue)
}
