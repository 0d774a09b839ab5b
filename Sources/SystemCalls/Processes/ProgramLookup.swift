/// Whether this process may execute the file, which is not a directory.
package func isExecutable(_ path: Path) -> Bool {
  guard let status = try? FileStatus(of: path, followsLinks: true), status.type == .file else {
    return false
  }
  return path.withCString { access($0, X_OK) } == 0
}

/// Replaces this process by a program, to which nothing that this one ignores matters. Returns only if that fails.
///
/// - Parameter arguments: The first one is the name by which it is started.
package func becomeProgram(_ path: Path, _ arguments: [[UInt8]]) {
  Signal(rawValue: SIGPIPE).restoreDefaultAction()
  _ = withCStrings(arguments) { arguments in path.withCString { execv($0, arguments) } }
}

/// The directories in which programs are looked up: those of the variable `PATH`, or of another value of it.
package func programDirectories(_ value: [UInt8]? = nil) -> [Path] {
  let value = value ?? Array((environmentVariable("PATH") ?? "").utf8)
  return value.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    .map { $0.isEmpty ? "." : Path(bytes: Array($0)) }
}

/// Looks up a program as `execvp` does; `nil` if it is not there.
///
/// - Parameter name: A name that is looked up in the directories, or a path, which is not.
package func findProgram(_ name: [UInt8], in directories: [Path]) -> Path? {
  if name.isEmpty { return nil }
  if name.contains(Path.slash) {
    let path = Path(bytes: name)
    return isExecutable(path) ? path : nil
  }
  return directories.lazy.map { $0.appending(name) }.first(where: isExecutable)
}
