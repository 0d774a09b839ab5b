import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// From settings to what the stages are made with.
extension Settings {
  func makeFilter(in directory: Path) -> PathFilter {
    PathFilter(
      base: directory, ignore: ignores, filter: filters, extensionBytes: extensions,
      sources: ignoreSources, environment: processEnvironmentText())
  }

  func makeCommand() -> Command {
    // A terminal is not for a command in a background group: it would be stopped by it. What is none
    // and was a list has been read to its end.
    let inherits = Terminal.isTerminal(STDIN_FILENO) ? isInteractive : filesFrom != "-"
    var command = Command(
      words: command, form: commandForm, environment: environment, inheritsStandardInput: inherits)
    command.takesTerminal = isInteractive
    command.firstPathAtStart = firstOfList
    command.changeDelivery = changeDelivery
    return command
  }

  /// Who sees to the terminal; nil if standard input is none.
  func makeTerminalController(_ guardian: Guardian?) -> TerminalController? {
    guard printMode == nil, Terminal.isTerminal(STDIN_FILENO) else { return nil }
    let use: TerminalController.Use = isInteractive ? .lending : readsKeys ? .keys : .none
    return TerminalController(Terminal(STDIN_FILENO), for: use, guardian: guardian)
  }

  func makeQueueOptions(
    ignoring ignored: Set<Signal>, guardian: Guardian?
  ) -> ActionQueue.Options {
    var options = ActionQueue.Options(
      busyPolicy: busyPolicy, stopPlan: stopPlan, completion: completion, ignoredSignals: ignored,
      guardian: guardian)
    options.build = build.map(makeLine)
    options.onSuccess = onSuccess.map(makeLine)
    options.onFailure = onFailure.map(makeLine)
    options.timeout = timeout
    options.keepsAlive = keepsAlive
    return options
  }

  /// What is run beside the command; our standard input is for that alone.
  private func makeLine(_ line: [UInt8]) -> Command {
    var shell = usualShell
    if case .always(let named) = self.shell { shell = named }
    var command = Command(
      words: [line], form: .shell(shell), environment: environment, inheritsStandardInput: false)
    command.changeDelivery = changeDelivery
    return command
  }

  var usualShell: [UInt8] {
    let usual = environmentVariable("SHELL").flatMap { $0.isEmpty ? nil : $0 }
    return Array((usual ?? "sh").utf8)
  }

  private var commandForm: Command.Form {
    switch shell {
    case .never:
      return .direct
    case .always(let shell):
      return .shell(shell)
    case .whenNeeded:
      guard let word = command.first, command.count == 1, Self.needsShell(word) else {
        return .direct
      }
      return .shell(usualShell)
    }
  }

  /// True for a word in which a space or a shell's special character stands.
  private static func needsShell(_ word: [UInt8]) -> Bool {
    let special = Array(" \t\n|&;<>()$`\\\"'*?[]{}!#~".utf8)
    return word.contains { special.contains($0) }
  }
}
