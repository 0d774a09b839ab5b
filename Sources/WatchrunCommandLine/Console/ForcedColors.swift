import ActionRunning
import SystemCalls

extension Console {
  /// The variables that most programs take as the request for colours in output that goes to a pipe.
  private static let colorVariables = ["FORCE_COLOR", "CLICOLOR_FORCE"]

  /// Variables for tasks whose output is forwarded to standard output, if that shows colours. What the user
  /// has set stays as it is; `NO_COLOR` forbids both.
  static func forcedColors(_ mode: ColorMode) -> [Command.EnvironmentVariable] {
    let noColor = environmentVariable("NO_COLOR") ?? ""
    guard noColor.isEmpty, isColored(mode, STDOUT_FILENO) else { return [] }
    return unlessSet(colorVariables)
  }

  /// Variables for the same tasks, of which Python would show nothing before 8 KiB.
  static var unbufferedOutput: [Command.EnvironmentVariable] { unlessSet(["PYTHONUNBUFFERED"]) }

  private static func unlessSet(_ names: [String]) -> [Command.EnvironmentVariable] {
    names.filter { environmentVariable($0) == nil }.map { name in
      Command.EnvironmentVariable(name: Array(name.utf8), value: Array("1".utf8))
    }
  }
}
