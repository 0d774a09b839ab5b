import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// Makes the options of the stages from the settings of the command line.
extension Settings {
  func makeFilter(in directory: Path) -> PathFilter {
    PathFilter(
      base: directory, ignore: ignores, filter: filters, extensionBytes: extensions,
      sources: ignoreSources, environment: processEnvironmentText())
  }

  func makeCommand() -> Command {
    // A command in a background process group that reads from the terminal is stopped by the kernel. A
    // list on standard input has been read to its end.
    let inherits = Terminal.isTerminal(STDIN_FILENO) ? isInteractive : filesFrom != "-"
    var command = Command(
      words: command, form: commandForm, environment: environment, inheritsStandardInput: inherits)
    command.takesTerminal = isInteractive
    command.firstPathAtStart = firstOfList
    command.changeDelivery = changeDelivery
    return command
  }

  /// `nil` if standard input is not a terminal.
  func makeTerminalController(_ guardian: Guardian?) -> TerminalController? {
    guard printMode == nil, Terminal.isTerminal(STDIN_FILENO) else { return nil }
    // After a single run, the shell must receive the typed input.
    let listens = readsKeys && !endsAfterFirstRun
    let use: TerminalController.Use = isInteractive ? .lending : listens ? .keys : .none
    return TerminalController(
      Terminal(STDIN_FILENO), for: use, readsKeys: listens, guardian: guardian)
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

  /// Makes a build or a hook from a shell line. Only the command inherits standard input.
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
    case .never: .direct
    case .always(let shell): .shell(shell)
    case .whenNeeded: shellOfLine.map { .shell($0) } ?? .direct
    }
  }

  /// The shell for a command that is a single argument and a shell line; `nil` for any other command.
  var shellOfLine: [UInt8]? {
    guard let line = command.first, command.count == 1 else { return nil }
    switch shell {
    case .never: return nil
    case .always(let shell): return shell
    case .whenNeeded: return ShellLine(line).needsShell ? usualShell : nil
    }
  }
}
