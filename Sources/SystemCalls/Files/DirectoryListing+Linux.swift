#if os(Linux)

/// Lists directories, with one buffer for all of them.
package final class DirectoryReader {
  private let buffer: UnsafeMutableRawBufferPointer

  package init() {
    buffer = .allocate(byteCount: 64 * 1024, alignment: 8)
  }

  deinit {
    buffer.deallocate()
  }

  /// Calls `body` as `forEachEntry` does, with the inode number in each entry as well. For a mount point,
  /// that is the inode of the covered directory.
  package func forEachNumberedEntry(
    of directory: borrowing Descriptor,
    _ body: (
      _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, _ inode: UInt64
    ) throws(SystemError) -> Void
  ) throws(SystemError) {
    let number = directory.number
    while true {
      let filled = try checked("getdents64") {
        csystem_directory_entries(number, buffer.baseAddress, buffer.count)
      }
      if filled == 0 { return }
      var offset = 0
      while offset < filled {
        // struct dirent64: inode 8, offset 8, record length 2, type 1, name from 19, NUL.
        let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 16, as: UInt16.self))
        let inode = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let entryType = buffer[offset + 18]
        let tail = UnsafeRawBufferPointer(rebasing: buffer[(offset + 19)..<(offset + length)])
        offset += length
        let chars = tail.assumingMemoryBound(to: CChar.self)
        guard let start = chars.baseAddress else { continue }
        let name = UnsafeBufferPointer(
          rebasing: tail.assumingMemoryBound(to: UInt8.self)[..<strlen(start)])
        if name.isDots { continue }
        if let type = FileType(entryType: entryType) {
          try body(name, type, inode)
        } else if let status = try? FileStatus(of: start, in: directory) {
          try body(name, status.type, inode)
        }
      }
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether this is `.` or `..`.
  fileprivate var isDots: Bool {
    let dot = UInt8(ascii: ".")
    return (count == 1 && self[0] == dot) || (count == 2 && self[0] == dot && self[1] == dot)
  }
}

#endif  // os(Linux)
