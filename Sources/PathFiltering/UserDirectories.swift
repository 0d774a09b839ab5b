import SystemCalls

/// The directories of a user's settings, according to the environment.
struct UserDirectories: Sendable {
  /// `$HOME`.
  let home: Path?
  /// `$XDG_CONFIG_HOME`, or else `~/.config`.
  let configuration: Path?

  init(environment: [String: String]) {
    home = environment.path("HOME")
    configuration = environment.path("XDG_CONFIG_HOME") ?? home?.appending(".config")
  }
}

extension [String: String] {
  /// The path in a variable; `nil` if the variable is unset or empty.
  fileprivate func path(_ name: String) -> Path? {
    self[name].flatMap { $0.isEmpty ? nil : Path($0) }
  }
}
