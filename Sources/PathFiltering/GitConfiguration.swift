import Support
import SystemCalls

/// The two git settings that affect ignoring.
///
/// They are read from the files of the system, the user, the repository and the worktree; later files
/// take precedence. Files named by `include.path` and settings in the environment are not read.
struct GitConfiguration: Sendable {
  /// `core.excludesFile`, as git prints it; `nil` if it is not set.
  private var namedExcludesFile: [UInt8]?
  /// `core.ignoreCase`.
  private(set) var ignoresCase = false
  /// `extensions.worktreeConfig`: whether worktrees have settings of their own.
  private var hasWorktreeSettings = false
  private let home: Path?
  /// The directory of the user's settings: `$XDG_CONFIG_HOME`, or else `~/.config`.
  let userDirectory: Path?

  /// Reads the files of the system and the user.
  init(environment: [String: String], warn: (SystemError) -> Void) {
    func path(_ name: String) -> Path? {
      environment[name].flatMap { $0.isEmpty ? nil : Path($0) }
    }
    home = path("HOME")
    userDirectory = path("XDG_CONFIG_HOME") ?? home?.appending(".config")
    if !Self.isTrue(Array((environment["GIT_CONFIG_NOSYSTEM"] ?? "false").utf8)) {
      read(Path(environment["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"), warn: warn)
    }
    if let global = environment["GIT_CONFIG_GLOBAL"] {
      read(Path(global), warn: warn)
    } else {
      if let file = userDirectory?.appending("git/config") { read(file, warn: warn) }
      if let file = home?.appending(".gitconfig") { read(file, warn: warn) }
    }
  }

  /// Returns these settings, overridden by those of a repository and of its worktree.
  func adding(_ repository: GitRepository, warn: (SystemError) -> Void) -> GitConfiguration {
    var sum = self
    // git does not heed it in the files of the user.
    sum.hasWorktreeSettings = false
    sum.read(repository.commonDirectory.appending("config"), warn: warn)
    if sum.hasWorktreeSettings {
      sum.read(repository.directory.appending("config.worktree"), warn: warn)
    }
    return sum
  }

  /// The user's ignore file for all repositories. A relative path is relative to the repository's
  /// root.
  var excludesFile: Path? {
    guard let name = namedExcludesFile else {
      return userDirectory?.appending("git/ignore")
    }
    return name.isEmpty ? nil : Path(bytes: name)
  }

  private mutating func read(_ file: Path, warn: (SystemError) -> Void) {
    do {
      if let contents = try fileContents(of: file) { apply(contents) }
    } catch {
      warn(error)
    }
  }

  mutating func apply(_ contents: [UInt8]) {
    for entry in GitConfigurationSyntax.entries(in: contents) {
      switch entry.name {
      case "core.excludesfile": if let name = entry.value { namedExcludesFile = expanded(name) }
      case "core.ignorecase": ignoresCase = Self.isTrue(entry.value)
      case "extensions.worktreeconfig": hasWorktreeSettings = Self.isTrue(entry.value)
      default: break
      }
    }
  }

  /// Expands `~/` at the start of a file's name, and removes `:(optional)`, which allows the file
  /// to be missing. Here any file may be.
  private func expanded(_ name: [UInt8]) -> [UInt8] {
    let mark = Array(":(optional)".utf8)
    let name = name.starts(with: mark) ? Array(name.dropFirst(mark.count)) : name
    guard name.starts(with: [UInt8(ascii: "~"), UInt8(ascii: "/")]), let home else {
      return name
    }
    return home.appending(name.dropFirst(2)).bytes
  }

  /// Parses a boolean as git does: a key without a value is true, an empty value is false.
  private static func isTrue(_ value: [UInt8]?) -> Bool {
    guard let value else { return true }
    let text = value.map(\.lowercasedASCII).decoded
    return ["true", "yes", "on"].contains(text) || Int(text).map { $0 != 0 } ?? false
  }
}
