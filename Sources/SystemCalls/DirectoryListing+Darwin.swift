#if canImport(Darwin)

/// Reads folders, entry by entry.
package final class DirectoryReader {
  package init() {}

  /// Calls `body` with each entry of an open folder but `.` and `..`: its name, which is followed
  /// by a NUL and lives as long as the call, and its type, for which no file is asked where the
  /// file system puts it into the entry.
  package func forEachEntry(
    of directory: borrowing Descriptor,
    _ body: (_ name: UnsafeBufferPointer<UInt8>, _ type: FileType) throws(SystemError) -> Void
  ) throws(SystemError) {
    try forEachNumberedEntry(of: directory) { (name, type, _) throws(SystemError) in
      try body(name, type)
    }
  }

  /// The same, with the number of each entry's inode as the directory has it: where a file system is
  /// mounted on an entry, that of the directory below.
  package func forEachNumberedEntry(
    of directory: borrowing Descriptor,
    _ body: (
      _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, _ inode: UInt64
    ) throws(SystemError) -> Void
  ) throws(SystemError) {
    // The stream takes over its descriptor, so it is given one of its own.
    let copy = try checked("fcntl") { fcntl(directory.number, F_DUPFD_CLOEXEC, 0) }
    guard let stream = fdopendir(copy) else {
      close(copy)
      throw .last("fdopendir")
    }
    defer { closedir(stream) }
    rewinddir(stream)
    while let entry = readdir(stream) {
      let length = Int(entry.pointee.d_namlen)
      let inode = UInt64(entry.pointee.d_ino)
      try withUnsafePointer(to: &entry.pointee.d_name) {
        (field) throws(SystemError) -> Void in
        let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        let name = UnsafeBufferPointer(
          start: UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self), count: length)
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return }
        if let type = FileType(entryType: entry.pointee.d_type) {
          try body(name, type, inode)
        } else if let status = try? FileStatus(of: start, in: directory) {
          try body(name, status.type, inode)
        }
      }
    }
  }
}

#endif  // canImport(Darwin)
