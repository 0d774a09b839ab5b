import SystemCalls

/// The folders in which a user keeps settings, as the environment names them.
struct UserFolders: Sendable {
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
  /// The path in a variable; nil if it is unset or empty.
  fileprivate func path(_ name: String) -> Path? {
    self[name].flatMap { $0.isEmpty ? nil : Path($0) }
  }
}

/// The two of git's settings that bear on what is ignored.
///
/// They are read from the system's and the user's files and from the repository's own, of which the
/// last one to say something decides. Not read are files named by `include.path`, settings for one
/// worktree alone, and settings that are passed in the environment.
struct GitConfiguration: Sendable {
  /// `core.excludesFile`, as git prints it; empty if it is set to nothing, nil if it is not set.
  private var namedExcludesFile: [UInt8]?
  /// `core.ignoreCase`.
  private(set) var ignoresCase = false
  private let folders: UserFolders

  /// What the system's and the user's files say.
  init(environment: [String: String], warn: (SystemError) -> Void) {
    folders = UserFolders(environment: environment)
    if !Self.isTrue(Array((environment["GIT_CONFIG_NOSYSTEM"] ?? "false").utf8)) {
      read(Path(environment["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"), warn: warn)
    }
    if let global = environment["GIT_CONFIG_GLOBAL"] {
      read(Path(global), warn: warn)
    } else {
      if let file = folders.configuration?.appending("git/config") { read(file, warn: warn) }
      if let file = folders.home?.appending(".gitconfig") { read(file, warn: warn) }
    }
  }

  /// The same with what a repository's own file says on top.
  func adding(_ file: Path, warn: (SystemError) -> Void) -> GitConfiguration {
    var sum = self
    sum.read(file, warn: warn)
    return sum
  }

  /// The user's ignore file for all repositories. Relative names begin at the repository's root.
  var excludesFile: Path? {
    guard let name = namedExcludesFile else {
      return folders.configuration?.appending("git/ignore")
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
    var syntax = GitConfigurationSyntax(contents)
    while let entry = syntax.next() {
      switch entry.name {
      case "core.excludesfile": if let name = entry.value { namedExcludesFile = expanded(name) }
      case "core.ignorecase": ignoresCase = Self.isTrue(entry.value)
      default: break
      }
    }
  }

  /// A file's name without what git lets stand before it: `~/` for the home folder, and
  /// `:(optional)`, which says that the file may be missing, as here it may in any case.
  private func expanded(_ name: [UInt8]) -> [UInt8] {
    let mark = Array(":(optional)".utf8)
    let name = name.starts(with: mark) ? Array(name.dropFirst(mark.count)) : name
    guard name.starts(with: [Byte.tilde, Byte.slash]), let home = folders.home else { return name }
    return home.appending(name.dropFirst(2)).bytes
  }

  /// A truth value as git reads it: a key alone is true, an empty value is not.
  private static func isTrue(_ value: [UInt8]?) -> Bool {
    guard let value else { return true }
    let text = String(decoding: value.map(\.lowercased), as: UTF8.self)
    return ["true", "yes", "on"].contains(text) || Int(text).map { $0 != 0 } ?? false
  }
}
