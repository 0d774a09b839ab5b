/// Resolves all symbolic links of a path.
package func resolvedPath(_ path: Path) throws(SystemError) -> Path {
  guard let resolved = path.withCString({ realpath($0, nil) }) else {
    throw .last("realpath", path: path)
  }
  defer { free(resolved) }
  return Path(cString: resolved)
}

/// The target of a symbolic link.
package func linkTarget(of path: Path) throws(SystemError) -> Path {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = path.withCString { readlink($0, &bytes, bytes.count) }
  if count < 0 { throw .last("readlink", path: path) }
  return Path(bytes: bytes.prefix(count).map(UInt8.init(bitPattern:)))
}

/// The current directory of this process.
package func currentDirectory() throws(SystemError) -> Path {
  guard let current = getcwd(nil, 0) else { throw .last("getcwd") }
  defer { free(current) }
  return Path(cString: current)
}

/// Sets the current directory of this process, and the variable `PWD` with it. Call this before threads exist.
package func changeDirectory(to path: Path) throws(SystemError) {
  _ = try checked("chdir", path: path) { path.withCString { chdir($0) } }
  _ = workingDirectoryName(of: ".").withCString { setenv("PWD", $0, 1) }
}

extension Path {
  package init(cString: UnsafePointer<CChar>) {
    self.init(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
  }
}

/// The directory for temporary files: that of the variable `TMPDIR`, or `/tmp`.
package func temporaryFilesDirectory() -> Path {
  Path(environmentVariable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
}

/// Creates a directory for temporary files that only this user can enter. Its name is the prefix and six
/// more characters.
package func makeTemporaryDirectory(prefix: String) throws(SystemError) -> Path {
  let pattern = temporaryFilesDirectory().appending(prefix + "XXXXXX")
  let made = pattern.withCString { start -> Path? in
    guard let template = strdup(start) else { return nil }
    defer { free(template) }
    return mkdtemp(template) == nil ? nil : Path(cString: template)
  }
  guard let made else { throw .last("mkdtemp", path: pattern) }
  return made
}

/// Whether there is something at a path, also a link that leads nowhere. Cheaper than an error.
package func fileExists(_ path: Path) -> Bool {
  path.withCString { faccessat(AT_FDCWD, $0, F_OK, AT_SYMLINK_NOFOLLOW) } == 0
}

/// Whether entries of a directory can be created and removed.
package func isWritableDirectory(_ path: Path) -> Bool {
  path.withCString { faccessat(AT_FDCWD, $0, W_OK, AT_EACCESS) } == 0
}

/// Creates a directory and its ancestors, if they do not exist.
package func makeDirectories(_ path: Path) throws(SystemError) {
  if (try? FileStatus(of: path, followsLinks: true)) != nil { return }
  if let parent = path.parent { try makeDirectories(parent) }
  if path.withCString({ mkdir($0, 0o777) }) == -1 && errno != EEXIST {
    throw .last("mkdir", path: path)
  }
}

/// Removes a file, if it exists.
package func removeFile(_ path: Path) {
  _ = path.withCString { unlink($0) }
}

/// Removes an empty directory, if it exists.
package func removeDirectory(_ path: Path) {
  _ = path.withCString { rmdir($0) }
}

/// Sets the times at which a file was read and written last. A symbolic link is not followed. Returns whether that was
/// possible.
package func setTimes(_ time: FileTime, of path: Path) -> Bool {
  let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
  let times = Array(repeating: timespec(tv_sec: Int(seconds), tv_nsec: Int(rest)), count: 2)
  return path.withCString { utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) } == 0
}

/// Replaces the content of a file, or creates it. A reader finds the old content or the new one, never a part.
///
/// - Parameter temporary: A path in the same directory, at which the content is written first.
package func replaceFile(
  _ path: Path, with content: [UInt8], through temporary: Path
) throws(SystemError) {
  do throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
    let descriptor = try Descriptor.open(temporary, flags, mode: 0o666)
    try writeAll(content, to: descriptor.number)
    try renameFile(temporary, to: path)
  } catch {
    removeFile(temporary)
    throw error
  }
}
