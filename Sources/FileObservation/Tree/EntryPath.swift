import SystemCalls

/// The path of an entry, and the offset of its name.
struct EntryPath {
  private(set) var bytes: [UInt8] = []
  private(set) var nameStart = 0

  var path: Path { Path(bytes: bytes) }

  /// Sets the directory, whose entries' names are set next.
  mutating func setDirectory(_ directory: Path) {
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(directory.bytes.count + 64)
    bytes.append(contentsOf: directory.bytes)
    if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
    nameStart = bytes.count
  }

  mutating func setName(_ name: UnsafeBufferPointer<UInt8>) {
    bytes.removeLast(bytes.count - nameStart)
    bytes.append(contentsOf: name)
  }
}
