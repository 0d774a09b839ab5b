import ActionRunning
import SystemCalls
import WatchrunSettings

extension Console {
  /// Variables for commands whose output is forwarded to standard output, as if they wrote to it themselves.
  /// What the user has set stays as it is.
  ///
  /// - Parameter isTerminal: Whether the commands write to a pseudo-terminal.
  static func outputVariables(
    _ mode: ColorMode, isTerminal: Bool
  ) -> [Command.EnvironmentVariable] {
    if isTerminal {
      // A pager would wait for keys.
      return ["PAGER", "GIT_PAGER"].map { .init($0, "cat") }
    }
    let noColor = environmentVariable("NO_COLOR") ?? ""
    // Most programs take these as the request for colours in output that goes to a pipe.
    let isColored = noColor.isEmpty && isColored(mode, STDOUT_FILENO)
    let colors = isColored ? ["FORCE_COLOR", "CLICOLOR_FORCE"] : []
    // Python would show nothing before 8 KiB.
    return (colors + ["PYTHONUNBUFFERED"]).filter { environmentVariable($0) == nil }
      .map { .init($0, "1") }
  }

  /// Whether commands whose output is forwarded write to a pseudo-terminal unless the user says otherwise: if
  /// standard output is a terminal that shows colours.
  static func usesPseudoTerminals(_ mode: ColorMode) -> Bool {
    Terminal.isTerminal(STDOUT_FILENO) && isColored(mode, STDOUT_FILENO)
  }
}
