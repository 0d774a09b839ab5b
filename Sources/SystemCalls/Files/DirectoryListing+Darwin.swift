#if canImport(Darwin)

/// Lists directories.
package final class DirectoryReader {
  package init() {}

  /// Calls `body` as `forEachEntry` does, with the inode number in each entry as well. For a mount point,
  /// that is the inode of the covered directory.
  package func forEachNumberedEntry(
    of directory: borrowing Descriptor,
    _ body: (
      _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, _ inode: UInt64
    ) throws(SystemError) -> Void
  ) throws(SystemError) {
    // The stream owns its descriptor, so it gets a copy.
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
