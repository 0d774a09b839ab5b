/// The environment of this process, as `NAME=value`.
package func processEnvironment() -> [[UInt8]] {
  var variables: [[UInt8]] = []
  var next = environ
  while let variable = next.pointee {
    variables.append(Path(cString: variable).bytes)
    next = next.advanced(by: 1)
  }
  return variables
}

/// The variables whose names and values are UTF-8.
package func processEnvironmentText() -> [String: String] {
  var texts: [String: String] = [:]
  for variable in processEnvironment() {
    guard let cut = variable.firstIndex(of: UInt8(ascii: "=")),
      let name = String(validating: variable[..<cut], as: UTF8.self),
      let value = String(validating: variable[(cut + 1)...], as: UTF8.self)
    else { continue }
    texts[name] = value
  }
  return texts
}

/// The value of the variable `PWD` for a process that runs in a directory.
///
/// The value for this process is kept if it leads there, as it may do by way of symbolic links. Otherwise
/// links are resolved.
package func workingDirectoryName(of directory: Path) -> Path {
  if let value = getenv("PWD") {
    let named = Path(cString: value)
    // Also without `.` and `..`, which other programs do not expect.
    if named.absolute(from: "/") == named, isSameFile(named, directory) { return named }
  }
  return (try? resolvedPath(directory)) ?? directory
}

/// Whether both paths lead to the same file.
package func isSameFile(_ path: Path, _ other: Path) -> Bool {
  guard let one = try? FileStatus(of: path, followsLinks: true),
    let two = try? FileStatus(of: other, followsLinks: true)
  else { return false }
  return one.inode == two.inode && one.device == two.device
}

/// The value of an environment variable of this process, if it is UTF-8.
package func environmentVariable(_ name: String) -> String? {
  getenv(name).flatMap { String(validatingCString: $0) }
}
