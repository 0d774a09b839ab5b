import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// What sessions and observers are made of, from the settings of the command line.
extension Settings {
  func makeFilter(in directory: Path) -> PathFilter {
    PathFilter(
      base: directory, ignore: ignores, filter: filters, extensionBytes: extensions,
      sources: ignoreSources, environment: processEnvironmentText())
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

  /// The shell for a command that is a single argument and a shell line; `nil` for any other command.
  var shellOfLine: [UInt8]? {
    guard let line = command.first, command.count == 1 else { return nil }
    switch shell {
    case .never: return nil
    case .always(let shell): return shell
    case .whenNeeded: return ShellLine(line).needsShell ? userShell.name : nil
    }
  }
}
