/// What an option of the command line means where there is no command but a project.
enum ProjectOptions {
  enum Use: Hashable, Sendable {
    /// It is meant for all that is done.
    case forAll
    /// It is a task's own affair, and said in the project file by this key.
    case key(String)
    /// It is for the page of the command line. A page of a project has this key in the file.
    case pageKey(String)
    /// It has no meaning without a command.
    case forCommand
  }

  static func use(of option: String) -> Use {
    if let key = keys[option] { return .key(key) }
    if pageKeys.contains(option) { return .pageKey(option) }
    return forCommand.contains(option) ? .forCommand : .forAll
  }

  private static let keys = [
    "watch": "watch", "watch-shallow": "watch", "exts": "exts", "filter": "filter",
    "events": "events", "on-busy": "onBusy", "restart": "onBusy", "signal": "onBusy",
    "stop-signal": "stopSignal", "stop-timeout": "stopTimeout", "timeout": "timeout",
    "keep-alive": "keepAlive",
  ]

  private static let pageKeys: Set = ["serve", "proxy", "port", "host"]

  /// Whether an option has no meaning where a page is served and nothing is run.
  static func needsCommand(_ option: String) -> Bool {
    runOptions.contains(option)
  }

  private static let runOptions: Set = [
    "postpone", "once", "exit-on-error", "until-success", "on-busy", "restart", "signal",
    "stop-signal", "stop-timeout", "timeout", "keep-alive", "build", "on-success", "on-failure",
    "shell", "emit", "env", "interactive",
  ]

  private static let forCommand: Set = [
    "files-from", "build", "on-success", "on-failure", "shell", "emit", "interactive", "null",
  ]
}
