import SystemCalls

/// A git repository: its root, and the directories of its metadata.
struct GitRepository: Sendable {
  /// The directory that contains `.git`.
  let root: Path
  /// The directory that contains `index`: `.git` itself, or, in a worktree or a submodule, the
  /// directory that the file `.git` names.
  let directory: Path
  /// The directory that contains `config` and `info`, which worktrees share.
  let commonDirectory: Path

  /// Creates the repository with the given root.
  init(root: Path) {
    self.root = root
    var directory = root.appending(".git")
    if let target = Self.line(of: directory, after: "gitdir: ") {
      directory = target.absolute(from: root)
    }
    self.directory = directory
    if let target = Self.line(of: directory.appending("commondir"), after: "") {
      directory = target.absolute(from: directory)
    }
    commonDirectory = directory
  }

  /// Finds the innermost repository that contains a directory.
  static func enclosing(_ directory: Path) -> GitRepository? {
    let root = directory.lineage.first { (try? FileStatus(of: $0.appending(".git"))) != nil }
    return root.map { GitRepository(root: $0) }
  }

  /// Reads the path after a prefix in a file of one line; `nil` if there is no such file.
  private static func line(of file: Path, after prefix: String) -> Path? {
    guard let contents = try? fileContents(of: file), contents.starts(with: prefix.utf8) else {
      return nil
    }
    let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    return Path(bytes: contents.dropFirst(prefix.utf8.count).prefix { !isLineEnd($0) })
  }
}

/// The lock that exists while git changes the index of the repository that contains `path`; `nil`
/// outside of repositories.
package func gitIndexLock(above path: Path) -> Path? {
  GitRepository.enclosing(path)?.directory.appending("index.lock")
}
