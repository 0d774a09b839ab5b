/// What an action queue starts: the command, and what belongs to it. There is one of each at most.
public enum Job: String, Sendable, Hashable, CaseIterable {
  /// What is run first on every change, and decides whether the command is started.
  case build
  /// The command itself.
  case command
  /// What is run after a run of the command that has succeeded, or failed.
  case hook
}
