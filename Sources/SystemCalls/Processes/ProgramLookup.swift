/// Whether this process may execute the file, which is not a directory.
package func isExecutable(_ path: Path) -> Bool {
  guard let status = try? FileStatus(of: path, followsLinks: true), status.type == .file else {
    return false
  }
  return path.withCString { access($0, X_OK) } == 0
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
