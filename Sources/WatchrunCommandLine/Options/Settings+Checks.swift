import ActionRunning
import FileObservation

// Which options can be combined with each other, with a command, and with a project.

extension Settings {
  /// Returns the settings if their options can be combined.
  func checked() throws(UsageError) -> Settings {
    if task == .explain && command.isEmpty {
      throw UsageError("--explain needs a path, as in: watchrun --explain build/main.o")
    }
    try checkJSON()
    if case .ask = task { return try checkQuestion() }
    if let option = given["lines"] ?? given["follow"] {
      throw UsageError("\(option) needs --status or --logs")
    }
    try checkPage()
    if task == .run { try checkContradictions() }
    if task.isAboutProject || isForProject {
      try checkForProject()
      return self
    }
    guard task == .run, !isForPageAlone else { return self }
    if let printing = given["print"] { try checkPrinting(printing) }
    try checkSeparator()
    try checkPlaceholders()
    try checkInterval()
    if let option = given["task"] ?? given["config"] {
      throw UsageError(
        option == given["task"]
          ? "\(option) runs a task, not a command; for several tasks: \(option) NAME \(option) NAME"
          : "\(option) is for a project; remove it, or the command")
    }
    return self
  }

  /// Refuses options that a question ignores. Other options belong to the session.
  private func checkQuestion() throws(UsageError) -> Settings {
    let asking = ["wait", "status", "send", "logs"]
    let questions = asking.compactMap { given[$0] }
    if questions.count > 1 {
      throw UsageError(
        "\(questions[0]) and \(questions[1]) exclude each other; remove one of them")
    }
    let allowed = asking + ["lines", "follow", "json", "directory", "color"]
    for option in OptionTable.options where !allowed.contains(option.long) {
      guard let written = given[option.long] else { continue }
      throw UsageError(
        "\(questions.first ?? "") asks a session that runs already, so \(written) has no effect; "
          + "remove one of them")
    }
    if follows && given["status"] == nil && given["logs"] == nil {
      throw UsageError("--follow needs --status or --logs")
    }
    if let option = given["wait"], questionTime == nil, let word = command.first {
      let text = String(decoding: word, as: UTF8.self)
      let isNumber = UInt32(text) != nil
      guard isNumber || Duration(parsing: text) != nil else { return self }
      throw UsageError(
        "\(option) takes its value after '=': \(option)=\(text)\(isNumber ? "s" : ""); "
          + "the quiet period is set with -d")
    }
    return self
  }

  private func checkJSON() throws(UsageError) {
    guard let option = given["json"] else { return }
    switch task {
    case .listTasks, .doctor, .help, .version, .manual, .completions, .ask: return
    case .run, .explain, .initialize, .check, .schema:
      throw UsageError(
        "\(option) needs --list-tasks, --doctor, --wait or --status; "
          + "for changes: --print json")
    }
  }

  private func checkPrinting(_ printing: String) throws(UsageError) {
    if !command.isEmpty { throw UsageError("\(printing) runs no command; remove one of them") }
    for name in [
      "build", "on-success", "on-failure", "notify", "bell", "diagnostics", "output", "pty",
      "status-line",
    ] {
      guard let option = given[name] else { continue }
      throw UsageError("\(printing) runs nothing, so \(option) has no effect; remove one of them")
    }
  }

  func checkSeparator() throws(UsageError) {
    guard let option = given["null"] else { return }
    if printMode == nil && emitMode != .lines && filesFrom == nil {
      throw UsageError(
        "\(option) has no effect here; it needs --files-from, --print, --emit lines or --explain")
    }
  }

  /// Refuses `--poll 1s make`, where `1s` would be the command.
  private func checkInterval() throws(UsageError) {
    guard let option = given["poll"], polling == Polling(.always), let word = command.first else {
      return
    }
    let text = String(decoding: word, as: UTF8.self)
    let isNumber = UInt32(text) != nil
    guard isNumber || Duration(parsing: text) != nil else { return }
    throw UsageError(
      "\(option) takes its value after '=': \(option)=\(text)\(isNumber ? "ms" : "")")
  }

  /// Refuses `{}` in a shell line, where it is not replaced: paths are never pasted into a line.
  private func checkPlaceholders() throws(UsageError) {
    guard let line = command.first, command.count == 1, shellOfLine != nil else { return }
    guard let placeholder = ShellLine(line).placeholder else { return }
    let written = String(decoding: placeholder, as: UTF8.self)
    throw UsageError(
      "\(written) is replaced only as an argument of its own, not in a shell line; write: watchrun "
        + ShellLine(line).replacement)
  }

  private func checkForProject() throws(UsageError) {
    if !command.isEmpty {
      let questions = ["list-tasks", "init", "check", "schema"]
      let option = questions.lazy.compactMap { given[$0] }.first ?? ""
      throw UsageError("\(option) runs no command; remove one of them")
    }
    if let option = given["build"] {
      throw UsageError(
        "\(option) needs a command to run after it, as in: watchrun --build make ./app")
    }
    for option in OptionTable.options {
      guard let written = given[option.long] else { continue }
      switch ProjectOptions.use(of: option.long) {
      case .forAll:
        continue
      case .key(let key):
        throw UsageError(
          "\(written) needs a command, as in: watchrun \(written)\(example(of: option)) make test; "
            + "in a project, set \"\(key)\" for a task in watchrun.json (--init writes one)")
      case .pageKey(let key):
        throw UsageError(
          "\(written) needs --serve or --proxy; "
            + "in a project, set \"\(key)\" for a page in watchrun.json")
      case .forCommand:
        throw UsageError(
          "\(written) needs a command, as in: watchrun \(written)\(example(of: option)) make test")
      }
    }
  }

  /// The value in an example of the option's use.
  private func example(of option: Option) -> String {
    guard let value = option.value, !value.isOptional else { return "" }
    return " " + value.name
  }
}
