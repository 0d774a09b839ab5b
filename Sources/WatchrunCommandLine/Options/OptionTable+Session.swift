import SessionControl

extension OptionTable {
  static let session: [Option] = [
    Option(
      nil, "wait", .init("TIME", .duration, isOptional: true), .session,
      "Wait until every change made so far has been dealt with, and print the results; "
        + "arguments are tasks"
    ) { (settings, value) throws(UsageError) in
      settings.task = .ask(.wait)
      settings.questionTime = value.isEmpty ? nil : try duration(value)
    },
    Option(nil, "status", nil, .session, "Print the state of the tasks") { settings, _ in
      settings.task = .ask(.status)
    },
    Option(
      nil, "send", .init("ACTION", .choice(SessionRequest.Verb.orders)), .session,
      "Tell it to run, stop or restart tasks, pause or resume, reload the page, hold changes "
        + "(hold=TIME: for at most TIME, default 30s) or release them"
    ) { (settings, value) throws(UsageError) in
      try send(value, &settings)
    },
    Option(nil, "logs", nil, .session, "Print the output of the latest run of each task") {
      settings, _ in settings.task = .ask(.logs)
    },
    Option(nil, "follow", nil, .session, "With --status or --logs: go on with what happens") {
      settings, _ in settings.follows = true
    },
    Option(
      nil, "lines", .init("N", .count), .session, "Print N lines of the output of failed tasks",
      default: "100; with --logs, all"
    ) { (settings, value) throws(UsageError) in
      guard let lines = Int(text(value)), (0...100_000).contains(lines) else {
        throw UsageError("'\(text(value))' is not a number from 0 to 100000")
      }
      settings.outputLines = lines
    },
  ]

  private static func send(_ value: [UInt8], _ settings: inout Settings) throws(UsageError) {
    let parts = value.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let word = text(Array(parts[0]))
    guard SessionRequest.Verb.orders.contains(word), let verb = SessionRequest.Verb(rawValue: word)
    else { throw notOne(of: SessionRequest.Verb.orders, parts[0]) }
    settings.task = .ask(verb)
    if parts.count == 1 { return }
    guard verb == .hold else { throw UsageError("\(word) takes no value; only hold=TIME does") }
    let time = try duration(Array(parts[1]))
    if time > Pause.longestHold { throw UsageError("a hold lasts at most 10m") }
    settings.questionTime = time
  }
}

extension SessionRequest.Verb {
  /// What a session can be told to do.
  static let orders = allCases.filter { ![.wait, .status, .logs].contains($0) }.map(\.rawValue)
}
