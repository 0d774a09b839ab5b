import SystemCalls
import WatchrunSettings

/// The shell for shell lines of the command line: that of the user, as `$SHELL` names it.
struct UserShell: Hashable {
  /// Its name or path. `sh` if `$SHELL` is not set, or names a program that runs no lines.
  let name: [UInt8]
  /// Why `$SHELL` is not used; `nil` if it is, or is not set.
  let problem: String?

  /// - Parameter variable: The value of `$SHELL`.
  init(_ variable: String?, in directories: [Path] = programDirectories()) {
    let value = Array((variable ?? "").utf8)
    let defect = value.isEmpty ? nil : Self.defect(of: value, in: directories)
    name = value.isEmpty || defect != nil ? Array("sh".utf8) : value
    problem = defect.map {
      "$SHELL is '\(value.printable)', which \($0): sh is used; to choose a shell, give --shell"
    }
  }

  /// Programs that stand for a shell where a user must not log in.
  private static let refusals = ["nologin", "false", "true", "sync"].map { Array($0.utf8) }

  private static func defect(of shell: [UInt8], in directories: [Path]) -> String? {
    if findProgram(shell, in: directories) == nil { return "is not an executable program" }
    return refusals.contains(Array(Path(bytes: shell).lastComponent)) ? "runs no commands" : nil
  }
}

extension Settings {
  var userShell: UserShell { UserShell(environmentVariable("SHELL")) }

  /// Whether a line of the command line is run by the user's shell.
  var needsUserShell: Bool {
    guard case .whenNeeded = self.shell else { return false }
    return isRunByShell || build != nil || self.onSuccess != nil || self.onFailure != nil
  }
}
