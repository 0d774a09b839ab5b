import SystemCalls

/// A fresh folder for one test, which is removed with all that is in it when its owner's life ends.
///
/// Not under `/tmp`, where editors and ignore rules behave otherwise.
package final class TemporaryDirectory: Sendable {
  package let path: Path

  package init() throws(SystemError) {
    let pattern = Path("/var/tmp/watchrun-test-XXXXXX")
    let made = pattern.withCString { start -> Path? in
      guard let template = strdup(start) else { return nil }
      defer { free(template) }
      return mkdtemp(template) == nil ? nil : Path(cString: template)
    }
    guard let made else { throw .last("mkdtemp", path: pattern) }
    path = try resolvedPath(made)
  }

  deinit {
    try? Self.removeTree(at: path)
  }

  /// The path of something in it; of itself for an empty name.
  package subscript(_ name: String) -> Path {
    name.isEmpty ? path : path.appending(name)
  }

  /// Makes the file or replaces what is in it.
  package func write(_ text: String = "x", to name: String) throws(SystemError) {
    try put(text, into: self[name], O_WRONLY | O_CREAT | O_TRUNC)
  }

  /// The same, for a name of any bytes.
  package func write(_ text: String = "x", toName name: [UInt8]) throws(SystemError) {
    try put(text, into: path.appending(name), O_WRONLY | O_CREAT | O_TRUNC)
  }

  package func append(_ text: String, to name: String) throws(SystemError) {
    try put(text, into: self[name], O_WRONLY | O_APPEND)
  }

  package func read(_ name: String) throws(SystemError) -> String {
    String(decoding: try fileContents(of: self[name]) ?? [], as: UTF8.self)
  }

  /// The lines of a file; none if it is not there.
  package func lines(of name: String) -> [String] {
    ((try? read(name)) ?? "").split(separator: "\n").map(String.init)
  }

  package func exists(_ name: String) -> Bool {
    (try? FileStatus(of: self[name])) != nil
  }

  /// True if the process runs, with this as its working folder: its number alone may be another's by now.
  package func isHome(of pid: some StringProtocol) -> Bool {
    (try? linkTarget(of: Path("/proc/\(pid)/cwd"))) == path
  }

  /// Makes a folder and those on the way to it.
  package func makeDirectories(_ name: String) throws(SystemError) {
    var step = path
    for component in Path(name).components {
      step = step.appending(component)
      let made = step
      if (try? FileStatus(of: made)) != nil { continue }
      _ = try checked("mkdir", path: made) { made.withCString { mkdir($0, 0o755) } }
    }
  }

  /// Moves something within the folder, or to another one.
  package func rename(
    _ old: String, to new: String, in other: TemporaryDirectory? = nil
  ) throws(SystemError) {
    let from = self[old]
    let to = (other ?? self)[new]
    _ = try checked("rename", path: from) {
      from.withCString { start in to.withCString { moveFile(start, $0) } }
    }
  }

  /// Lets two things change places, in one step.
  package func exchange(_ one: String, _ other: String) throws(SystemError) {
    let (one, other) = (self[one], self[other])
    _ = try checked("renameat2", path: one) {
      one.withCString { start in
        other.withCString { renameat2(AT_FDCWD, start, AT_FDCWD, $0, renameExchange) }
      }
    }
  }

  package func link(_ name: String, to target: String) throws(SystemError) {
    let path = self[name]
    _ = try checked("symlink", path: path) {
      Path(target).withCString { start in path.withCString { symlink(start, $0) } }
    }
  }

  package func makePipe(_ name: String) throws(SystemError) {
    let path = self[name]
    _ = try checked("mkfifo", path: path) { path.withCString { mkfifo($0, 0o644) } }
  }

  package func setMode(_ mode: mode_t, of name: String) throws(SystemError) {
    let path = self[name]
    _ = try checked("chmod", path: path) { path.withCString { chmod($0, mode) } }
  }

  /// Removes a file, or a folder with all that is in it.
  package func remove(_ name: String) throws(SystemError) {
    try Self.removeTree(at: self[name])
  }

  private func put(_ text: String, into path: Path, _ flags: Int32) throws(SystemError) {
    let file = try Descriptor.open(path, flags, mode: 0o644)
    try writeAll(Array(text.utf8), to: file.number)
  }

  private static func removeTree(at path: Path) throws(SystemError) {
    guard try FileStatus(of: path).type == .directory else {
      _ = try checked("unlink", path: path) { path.withCString { unlink($0) } }
      return
    }
    _ = path.withCString { chmod($0, 0o700) }
    var names: [[UInt8]] = []
    let folder = try Descriptor.openDirectory(path)
    try DirectoryReader().forEachEntry(of: folder) { (name, _) throws(SystemError) in
      names.append(Array(name))
    }
    for name in names { try removeTree(at: path.appending(name)) }
    _ = try checked("rmdir", path: path) { path.withCString { rmdir($0) } }
  }
}

/// `rename`, which the method of that name would hide.
private func moveFile(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
  rename(old, new)
}

/// Is in every Linux C library, but only declared for those who ask for GNU extensions.
@_silgen_name("renameat2")
private func renameat2(
  _ oldFolder: Int32, _ old: UnsafePointer<CChar>, _ newFolder: Int32,
  _ new: UnsafePointer<CChar>, _ flags: UInt32
) -> Int32

private let renameExchange: UInt32 = 2
