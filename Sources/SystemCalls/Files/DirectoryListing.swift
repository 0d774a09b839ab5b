extension DirectoryReader {
  /// Calls `body` with the name and the type of each entry of an open directory, except `.` and `..`. The
  /// name is NUL-terminated and valid during the call. An entry is queried for its type only where the file
  /// system does not record types in directories.
  package func forEachEntry(
    of directory: borrowing Descriptor,
    _ body: (_ name: UnsafeBufferPointer<UInt8>, _ type: FileType) throws(SystemError) -> Void
  ) throws(SystemError) {
    try forEachNumberedEntry(of: directory) { (name, type, _) throws(SystemError) in
      try body(name, type)
    }
  }
}

/// The names of a directory's entries, in no particular order.
package func directoryNames(of path: Path) throws(SystemError) -> [Path] {
  let directory = try Descriptor.openDirectory(path)
  var names: [Path] = []
  try DirectoryReader().forEachEntry(of: directory) { name, _ in
    names.append(Path(bytes: name))
  }
  return names
}
