/// What an option of the command line means where there is no command but a project.
enum ProjectOptions {
  enum Use: Hashable, Sendable {
    /// It is meant for all that is done.
    case forAll
    /// It is a task's own affair, and said in the project file by this key.
    case key(String)
    /// It has no meaning without a command.
    case forCommand
  }

  static func use(of option: String) -> Use {
    if let key = keys[option] { return .key(key) }
    return forCommand.contains(option) ? .forCommand : .forAll
  }

  private static let keys = [
    "watch": "watch", "watch-shallow": "watch", "exts": "exts", "filter": "filter",
    "events": "events", "on-busy": "onBusy", "restart": "onBusy", "signal": "onBusy",
    "stop-signal": "stopSignal", "stop-timeout": "stopTimeout", "timeout": "timeout",
    "keep-alive": "keepAlive",
  ]

  private static let forCommand: Set = [
    "files-from", "build", "on-success", "on-failure", "shell", "emit", "interactive", "null",
  ]
}
