import ActionRunning
import FileObservation
import Support
import SystemCalls

// Which options can be combined with each other, with a command, with a page and with a project: by the
// scopes and conflicts of the options, and by what depends on their values.

extension Settings {
  /// Returns the settings if their options can be combined.
  func checked() throws(Failure) -> Settings {
    if [.help, .version].contains(task) { return self }
    try checkAnswers()
    if task == .explain && command.isEmpty {
      throw .usage("--explain needs a path, as in: watchrun --explain build/main.o")
    }
    if [.run, .explain, .initialize, .check, .schema].contains(task) {
      try refuse(["json"]) {
        "\($0) needs --list-tasks, --doctor, --wait or --status; for changes: --print json"
      }
    }
    if given["status"] == nil && given["logs"] == nil {
      try refuse(["follow"]) { "\($0) needs --status or --logs" }
    }
    if case .ask = task {
      try checkQuestion()
      return self
    }
    try refuse(["lines"]) { "\($0) needs --wait, --status or --logs" }
    // A project may have pages of its own.
    let isOfProject = isForProject || task.isAboutProject
    if hasPage {
      try checkPage()
    } else if !isOfProject {
      try refuse([], .page) { "\($0) needs a page; add --serve DIR or --proxy URL" }
    }
    if task == .run { try checkConflicts() }
    if isOfProject {
      try checkForProject()
    } else if task == .run, !isForPageAlone {
      try checkForCommand()
    }
    return self
  }

  /// Refuses two options that print an answer, of which one would silently win.
  private func checkAnswers() throws(Failure) {
    let answers = given(.answer).map(\.written) + questions
    guard answers.count > 1 else { return }
    throw .usage("\(answers[0]) and \(answers[1]) exclude each other; remove one of them")
  }

  /// The given options that ask or tell a session.
  private var questions: [String] { ["wait", "status", "send", "logs"].compactMap { given[$0] } }

  /// The given options whose scope includes any of these, as they were written.
  private func given(_ scope: Option.Scope) -> [(option: Option, written: String)] {
    Setting.options.compactMap { option in
      option.scope.isDisjoint(with: scope) ? nil : given[option.long].map { (option, $0) }
    }
  }

  /// Refuses the first given option of these names, or else of this scope.
  private func refuse(
    _ names: [String] = [], _ scope: Option.Scope = [], _ message: (_ written: String) -> String
  ) throws(Failure) {
    let written = names.firstResult { given[$0] } ?? given(scope).first?.written
    if let written { throw .usage(message(written)) }
  }

  // MARK: Questions

  /// Refuses options that a question ignores. They belong to the session.
  private func checkQuestion() throws(Failure) {
    let questions = questions
    for option in Setting.options where !option.scope.contains(.session) {
      guard let written = given[option.long] else { continue }
      throw .usage(
        "\(questions.first ?? "") asks a session that runs already, so \(written) has no effect; "
          + "remove one of them")
    }
    if let option = given["wait"], questionTime == nil {
      try refuseDetachedTime(of: option, unit: "s", "; the quiet period is set with -d")
    }
  }

  /// Refuses `--poll 1s make` and `--wait 1s`, where `1s` would be the command or a task.
  private func refuseDetachedTime(
    of option: String, unit: String, _ hint: String = ""
  ) throws(Failure) {
    guard let word = command.first else { return }
    let text = word.decoded
    let isNumber = UInt32(text) != nil
    guard isNumber || Duration(parsing: text) != nil else { return }
    throw .usage(
      "\(option) takes its value after '=': \(option)=\(text)\(isNumber ? unit : "")\(hint)")
  }

  // MARK: Pages

  private func checkPage() throws(Failure) {
    let written = given["serve"] ?? given["proxy"] ?? ""
    if page.served != nil && page.upstream != nil {
      throw .usage(
        "--serve and --proxy exclude each other, unless it names a path, as in --proxy /api=3000")
    }
    if page.served == nil && page.upstream == nil, let rule = page.proxies.first {
      throw .usage(
        "--proxy \(rule.path.printable)=… leaves other paths unanswered; "
          + "add --serve DIR or --proxy URL")
    }
    if page.isOwnServer {
      try refuse(["port"]) { "\($0) is that of the server behind the page; choose another" }
    }
    if page.served == nil {
      try refuse([], .files) { "\($0) is for files; it needs --serve instead of \(written)" }
    }
    try refuse(["print"], .answer) { "\($0) serves no page; remove \($0) or \(written)" }
    try refuse([], .project) { "\($0) is for a project; remove \($0) or \(written)" }
    if isForPageAlone {
      // `--null` and `--files-from` may be about the paths that are watched.
      try refuse([], .run) { "\($0) needs a command, as in: watchrun --proxy :3000 -r -- ./server" }
      return try checkSeparator()
    }
    try refuse(["once", "until-success"]) {
      "\($0) would end the page with a run; remove \($0) or \(written)"
    }
  }

  // MARK: Conflicts

  /// Refuses options of which one would silently win.
  private func checkConflicts() throws(Failure) {
    try checkBusyMode()
    for option in Setting.options {
      guard let written = given[option.long] else { continue }
      for conflict in option.conflicts {
        for name in conflict.others {
          // The default is not in the way.
          let isDefault =
            ["output", "status-line"].contains(name) && !readsOutput
            || name == "emit" && [.env, .none].contains(emitMode)
          guard let other = given[name], !isDefault else { continue }
          throw .usage(
            "\(written) \(conflict.reason), so \(other) \(conflict.consequence); "
              + "remove one of them")
        }
      }
    }
    try checkTimes()
  }

  /// Refuses a quiet period, of the command line or of a project, that never ends.
  package func checkTimes() throws(Failure) {
    guard let wait = given["max-wait"], case .fixed(let period) = quietPeriod, maximumWait < period
    else { return }
    throw .usage(
      "\(wait) must not be shorter than the quiet period of \(given["debounce"] ?? "\"debounce\"")")
  }

  /// `--restart`, `--signal` and `--on-busy` set the same thing.
  private func checkBusyMode() throws(Failure) {
    let named = namedBusyMode.flatMap { mode in
      given["on-busy"].map { (written: "\($0) \(mode.rawValue)", mode: mode) }
    }
    let modes = [
      given["restart"].map { ($0, BusyMode.restart) }, given["signal"].map { ($0, .signal) }, named,
    ].compactMap(\.self)
    guard let mode = modes.first, let other = modes.first(where: { $0.mode != mode.mode }) else {
      return try checkOverlap()
    }
    throw .usage(
      "\(mode.written) and \(other.written) exclude each other"
        + (mode.mode == .restart && other.mode == .signal
          ? "; to stop with another signal: \(mode.written) --stop-signal SIGNAL"
          : ": a change during a run does one thing; remove one of them"))
  }

  /// Two processes run for a while.
  private func checkOverlap() throws(Failure) {
    guard namedBusyMode == .overlap, let option = given["on-busy"] else { return }
    if let other = given["interactive"] {
      throw .usage(
        "\(option) overlap runs two processes for a while, and \(other) gives the terminal to one; "
          + "remove one of them")
    }
    if self.listen == nil, let page = given["proxy"] {
      throw .usage(
        "\(option) overlap runs two processes for a while, and one has the port of \(page); add "
          + "--listen PORT, which both share")
    }
  }

  // MARK: Commands

  private func checkForCommand() throws(Failure) {
    if command.count == 1, command[0].allSatisfy(Array(" \t\n".utf8).contains) {
      throw .usage("the command is empty")
    }
    if let printing = given["print"] {
      if !command.isEmpty { throw .usage("\(printing) runs no command; remove one of them") }
      let unused = given([.run, .results]).first { !["once", "postpone"].contains($0.option.long) }
      if let unused {
        throw .usage(
          "\(printing) runs nothing, so \(unused.written) has no effect; remove one of them")
      }
    }
    try checkSeparator()
    try checkPlaceholders()
    if let option = given["poll"], polling == Polling(.always) {
      try refuseDetachedTime(of: option, unit: "ms")
    }
    try refuse(["task"]) {
      "\($0) runs a task, not a command; for several tasks: \($0) NAME \($0) NAME"
    }
    try refuse([], .project) { "\($0) is for a project; remove it, or the command" }
  }

  private func checkSeparator() throws(Failure) {
    guard printMode == nil && emitMode != .lines && filesFrom == nil else { return }
    try refuse(["null"]) {
      "\($0) has no effect here; it needs --files-from, --print, --emit lines or --explain"
    }
  }

  /// Refuses `{}` in a shell line, where it is not replaced: paths are never pasted into a line.
  private func checkPlaceholders() throws(Failure) {
    guard let line = command.first, command.count == 1, isRunByShell else { return }
    guard let placeholder = ShellLine(line: line).placeholder else { return }
    let written = placeholder.decoded
    throw .usage(
      "\(written) is replaced only as an argument of its own, not in a shell line; write: watchrun "
        + ShellLine(line: line).replacement)
  }

  // MARK: Projects

  private func checkForProject() throws(Failure) {
    if !command.isEmpty {
      let option = given(.answer).first { $0.option.group == .project }
      throw .usage("\(option?.written ?? "") runs no command; remove one of them")
    }
    try refuse(["build"]) {
      "\($0) needs a command to run after it, as in: watchrun --build make ./app"
    }
    for setting in Setting.all {
      guard let option = setting.option, let written = given[option.long] else { continue }
      if let key = option.taskKey {
        throw .usage(
          "\(written) needs a command, as in: watchrun \(written)\(option.example) make test; "
            + "in a project, set \"\(key)\" for a task in watchrun.json (--init writes one)")
      }
      if let key = setting.key, key.scopes == [.page] {
        throw .usage(
          "\(written) needs --serve or --proxy; "
            + "in a project, set \"\(key.name)\" for a page in watchrun.json")
      }
      if option.scope.contains(.command) {
        throw .usage(
          "\(written) needs a command, as in: watchrun \(written)\(option.example) make test")
      }
    }
  }
}
