#if canImport(Darwin)

extension DirectoryListing {
  /// Replaces the entries by those of an open directory. An entry is queried for its type only where the file
  /// system does not record types in directories.
  package mutating func read(_ directory: borrowing Descriptor) throws(SystemError) {
    removeAll()
    // The stream owns its descriptor, so it gets a copy.
    let copy = try checked("fcntl") { fcntl(directory.number, F_DUPFD_CLOEXEC, 0) }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last("fdopendir")
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    rewinddir(stream)
    while true {
      // The end is told from an error by that alone.
      errno = 0
      guard let entry = readdir(stream) else { break }
      let length = Int(entry.pointee.d_namlen)
      let inode = UInt64(entry.pointee.d_ino)
      let recorded = FileType(entryType: entry.pointee.d_type)
      withUnsafePointer(to: &entry.pointee.d_name) { field in
        let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        let name = UnsafeBufferPointer(
          start: UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self), count: length)
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return }
        let type = recorded ?? (try? FileStatus(of: start, in: directory).type)
        if let type { append(Entry(name, type, inode: inode)) }
      }
    }
    if errno != 0 { throw .last("readdir") }
  }
}

#endif  // canImport(Darwin)
