#if os(Linux)

extension DirectoryListing {
  /// Replaces the entries by those of an open directory. An entry is queried for its type only where the file
  /// system does not record types in directories.
  package mutating func read(_ directory: borrowing Descriptor) throws(SystemError) {
    removeAll()
    let number = directory.number
    while true {
      makeRoom(for: Self.space)
      let start = end
      let filled = try bytes.withUnsafeMutableBufferPointer { (bytes) throws(SystemError) in
        try checked("getdents64") {
          csystem_directory_entries(
            number, bytes.baseAddress.map { $0 + start }, bytes.count - start)
        }
      }
      if filled == 0 { return }
      end += filled
      complete(from: start, of: directory)
    }
  }

  /// Looks up the types that are missing in records, and removes the names of those that are not
  /// listed.
  mutating func complete(from start: Int, of directory: borrowing Descriptor) {
    var (count, firstBytes) = (self.count, self.firstBytes)
    let end = end
    bytes.withUnsafeMutableBytes { bytes in
      guard let records = bytes.baseAddress else { return }
      var offset = start
      while offset < end {
        let record = DirectoryRecord(at: records + offset)
        if record.type == nil {
          let type = try? FileStatus(ofListed: record.name, in: directory).type
          bytes[offset + DirectoryRecord.typeOffset] = (type ?? .unknown).entryType
        }
        if record.isDots || record.type == nil { bytes[offset + DirectoryRecord.nameOffset] = 0 }
        if !record.isSkipped {
          count += 1
          firstBytes.insert(record.byte(at: DirectoryRecord.nameOffset))
        }
        offset += record.length
      }
    }
    (self.count, self.firstBytes) = (count, firstBytes)
  }
}

#endif  // os(Linux)
