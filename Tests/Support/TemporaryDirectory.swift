import SystemCalls

/// A fresh directory for one test, which is removed with its descendants when it is released.
///
/// It is not in `/tmp`, where editors and ignore rules behave differently.
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
    try? File.removeTree(path)
  }

  /// The path of an entry; of the directory itself for an empty name.
  package subscript(_ name: String) -> Path {
    name.isEmpty ? path : path.appending(name)
  }

  /// Creates a file, or replaces its content.
  package func write(_ text: String = "x", to name: String) throws(SystemError) {
    try File.write(text, to: self[name])
  }

  /// Creates a file whose name need not be UTF-8, or replaces its content.
  package func write(_ text: String = "x", toName name: [UInt8]) throws(SystemError) {
    try File.write(text, to: path.appending(name))
  }

  package func append(_ text: String, to name: String) throws(SystemError) {
    let file = try Descriptor.open(self[name], O_WRONLY | O_APPEND)
    try writeAll(Array(text.utf8), to: file.number)
  }

  package func read(_ name: String) throws(SystemError) -> String {
    try File.read(self[name])
  }

  /// The lines of a file; none if it does not exist.
  package func lines(of name: String) -> [String] {
    ((try? read(name)) ?? "").split(separator: "\n").map(String.init)
  }

  package func exists(_ name: String) -> Bool {
    File.exists(self[name])
  }

  /// Whether the process runs with this working directory. Its number alone may have been reused.
  package func isHome(of pid: some StringProtocol) -> Bool {
    (try? linkTarget(of: Path("/proc/\(pid)/cwd"))) == path
  }

  /// Creates a directory and its missing ancestors.
  package func makeDirectories(_ name: String) throws(SystemError) {
    try File.makeDirectories(self[name])
  }

  /// Moves an entry within the directory, or to another one.
  package func rename(
    _ old: String, to new: String, in other: TemporaryDirectory? = nil
  ) throws(SystemError) {
    try File.move(self[old], to: (other ?? self)[new])
  }

  /// Exchanges two entries atomically.
  package func exchange(_ one: String, _ other: String) throws(SystemError) {
    try File.exchange(self[one], self[other])
  }

  package func link(_ name: String, to target: String) throws(SystemError) {
    try File.makeLink(self[name], to: Path(target))
  }

  package func makePipe(_ name: String) throws(SystemError) {
    try File.makePipe(self[name])
  }

  package func setMode(_ mode: mode_t, of name: String) throws(SystemError) {
    try File.setMode(mode, of: self[name])
  }

  /// Removes a file, or a directory with its descendants.
  package func remove(_ name: String) throws(SystemError) {
    try File.removeTree(self[name])
  }
}

/// A directory with these files; a name that ends with a slash is a directory.
package func projectDirectory(_ files: [String: String]) throws -> TemporaryDirectory {
  let directory = try TemporaryDirectory()
  for (name, text) in files {
    if name.hasSuffix("/") {
      try directory.makeDirectories(name)
    } else {
      if let slash = name.lastIndex(of: "/") {
        try directory.makeDirectories(String(name[..<slash]))
      }
      try directory.write(text, to: name)
    }
  }
  return directory
}
