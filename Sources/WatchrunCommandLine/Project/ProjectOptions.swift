/// The meaning of options without a command, in a project.
enum ProjectOptions {
  enum Use: Hashable, Sendable {
    /// It applies to the whole run, or to every task.
    case forAll
    /// It belongs to a single task, which has this key in the project file.
    case key(String)
    /// It belongs to the page of the command line. A page of a project has this key in the file.
    case pageKey(String)
    /// It has no meaning without a command.
    case forCommand
  }

  static func use(of option: String) -> Use {
    if let key = keys[option] { return .key(key) }
    if let key = pageKeys[option] { return .pageKey(key) }
    return forCommand.contains(option) ? .forCommand : .forAll
  }

  private static let keys = [
    "watch-shallow": "watch", "signal": "onBusy", "keep-alive": "keepAlive",
  ]

  private static let pageKeys = [
    "serve": "serve", "proxy": "proxy", "port": "port", "host": "host", "fallback": "fallback",
    "header": "headers", "listing": "listing",
  ]

  /// Whether an option has no meaning where a page is served and no command is run.
  static func needsCommand(_ option: String) -> Bool {
    runOptions.contains(option)
  }

  private static let runOptions: Set = [
    "postpone", "once", "exit-on-error", "until-success", "on-busy", "restart", "signal",
    "stop-signal", "stop-timeout", "timeout", "keep-alive", "build", "on-success", "on-failure",
    "shell", "emit", "env", "interactive", "notify", "bell", "diagnostics",
    "output", "pty", "status-line",
  ]

  private static let forCommand: Set = [
    "files-from", "build", "on-success", "on-failure", "emit", "interactive", "null",
  ]
}
