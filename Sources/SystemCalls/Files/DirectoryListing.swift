/// The entries of a directory in the order in which they were read, without `.` and `..`. Its memory is reused
/// for the next directory.
package struct DirectoryListing {
  package struct Entry {
    /// A NUL follows it. It is valid during the call that passes it.
    package let name: UnsafeBufferPointer<UInt8>
    package let type: FileType
    /// For a mount point, that of the covered directory.
    package let inode: UInt64

    @inlinable
    package init(_ name: UnsafeBufferPointer<UInt8>, _ type: FileType, inode: UInt64) {
      self.name = name
      self.type = type
      self.inode = inode
    }
  }

  /// The first bytes of names, as a set in which some bytes count as the same.
  package struct FirstBytes: Sendable {
    private var bits: UInt64 = 0

    package init(_ bytes: [UInt8] = []) { for byte in bytes { insert(byte) } }

    @inline(__always)
    package mutating func insert(_ byte: UInt8) { bits |= 1 << UInt64(byte & 63) }

    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool { bits & (1 << UInt64(byte & 63)) != 0 }

    package func isDisjoint(with other: FirstBytes) -> Bool { bits & other.bits == 0 }
  }

  /// The least space that is offered to a system call.
  static let space = 16 * 1024
  /// The largest capacity that is kept for the next directory.
  private static let largestKept = 1 << 20

  /// Records, as Linux returns them. The bytes from `end` on are unused.
  @usableFromInline var bytes: [UInt8] = []
  @usableFromInline var end = 0
  /// The number of entries.
  package internal(set) var count = 0
  /// Those of the names.
  package internal(set) var firstBytes = FirstBytes()

  package init() {}

  package mutating func removeAll() {
    if bytes.count > Self.largestKept { bytes = [] }
    (end, count, firstBytes) = (0, 0, FirstBytes())
  }

  /// Calls `body` with each entry.
  @inlinable
  package func forEach<Failure>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      guard let start = bytes.baseAddress else { return }
      var offset = 0
      while offset < end {
        let record = DirectoryRecord(at: UnsafeRawPointer(start) + offset)
        offset += record.length
        if record.isSkipped { continue }
        try body(Entry(record.name, record.type ?? .unknown, inode: record.inode))
      }
    }
  }

  /// Appends an entry, where the system does not return records, and in tests.
  package mutating func append(_ entry: Entry) {
    let length = DirectoryRecord.length(ofName: entry.name.count)
    makeRoom(for: length)
    bytes.withUnsafeMutableBytes {
      if let start = $0.baseAddress { DirectoryRecord.write(entry, at: start + end) }
    }
    end += length
    count += 1
    if let byte = entry.name.first { firstBytes.insert(byte) }
  }

  mutating func makeRoom(for length: Int) {
    while bytes.count - end < length {
      bytes += Array(repeating: 0, count: max(bytes.count, 2 * Self.space))
    }
  }
}

extension FileStatus {
  /// The status of an entry of an open directory, by a name that a NUL follows.
  package init(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) {
    guard let start = name.baseAddress else { throw SystemError(call: "fstatat", code: ENOENT) }
    let chars = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    try self.init(of: chars, in: directory)
  }
}

/// The names of a directory's entries, in no particular order.
package func directoryNames(
  of path: Path, followsLinks: Bool = false
) throws(SystemError) -> [Path] {
  var listing = DirectoryListing()
  try listing.read(try Descriptor.openDirectory(path, followsLinks: followsLinks))
  var names: [Path] = []
  listing.forEach { names.append(Path(bytes: $0.name)) }
  return names
}
