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
      nil, "lines", .init("N", .count), .session, "Print N lines of the output of failed tasks",
      default: "100"
    ) { (settings, value) throws(UsageError) in
      guard let lines = Int(text(value)), (0...100_000).contains(lines) else {
        throw UsageError("'\(text(value))' is not a number from 0 to 100000")
      }
      settings.outputLines = lines
    },
  ]
}
