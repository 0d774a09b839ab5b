import SystemCalls

/// Where a repository begins, and where git keeps what belongs to it.
struct GitRepository: Sendable {
  /// The folder with `.git` in it.
  let root: Path
  /// The folder with `index`: `.git` itself, or for a worktree or a submodule the one that the file
  /// `.git` leads to.
  let folder: Path
  /// The folder with `config` and `info`, which several worktrees have in common.
  let commonFolder: Path

  /// The repository that begins in `root`.
  init(root: Path) {
    self.root = root
    var folder = root.appending(".git")
    if let target = Self.line(of: folder, behind: "gitdir: ") {
      folder = target.absolute(from: root)
    }
    self.folder = folder
    if let target = Self.line(of: folder.appending("commondir"), behind: "") {
      folder = target.absolute(from: folder)
    }
    commonFolder = folder
  }

  /// The nearest one upwards from `folder`, which may be its root.
  static func enclosing(_ folder: Path) -> GitRepository? {
    var candidate: Path? = folder
    while let root = candidate {
      if (try? FileStatus(of: root.appending(".git"))) != nil { return GitRepository(root: root) }
      candidate = root.parent
    }
    return nil
  }

  /// The path that a file of one line holds behind `prefix`; nil if there is no such file.
  private static func line(of file: Path, behind prefix: String) -> Path? {
    guard let contents = try? fileContents(of: file), contents.starts(with: prefix.utf8) else {
      return nil
    }
    let isLineEnd = { (byte: UInt8) in byte == Byte.newline || byte == Byte.carriageReturn }
    return Path(bytes: contents.dropFirst(prefix.utf8.count).prefix { !isLineEnd($0) })
  }
}

/// The file that is there while git works on the index of the repository that holds `path`; nil if
/// there is no repository.
package func gitIndexLock(above path: Path) -> Path? {
  GitRepository.enclosing(path)?.folder.appending("index.lock")
}
