/// An entry of a directory as `getdents64` returns it: the inode in eight bytes, an offset in eight, the length of
/// the record in two, the type in one, the name, a NUL, and up to seven unused bytes.
@usableFromInline
struct DirectoryRecord {
  @usableFromInline static let lengthOffset = 16
  @usableFromInline static let typeOffset = 18
  @usableFromInline static let nameOffset = 19
  @usableFromInline static let alignment = 8
  private static let dot = UInt8(ascii: ".")

  @usableFromInline let start: UnsafeRawPointer

  @inlinable
  init(at start: UnsafeRawPointer) {
    self.start = start
  }

  @inlinable var length: Int {
    Int(start.loadUnaligned(fromByteOffset: Self.lengthOffset, as: UInt16.self))
  }
  @inlinable var inode: UInt64 { start.loadUnaligned(as: UInt64.self) }
  /// `nil` if the file system does not record types.
  @inlinable var type: FileType? { FileType(entryType: byte(at: Self.typeOffset)) }
  /// Whether its name was removed, because it is not an entry to be listed.
  @inlinable var isSkipped: Bool { byte(at: Self.nameOffset) == 0 }

  @inlinable var name: UnsafeBufferPointer<UInt8> {
    // The first NUL is among the last bytes.
    var end = max(Self.nameOffset, length - Self.alignment)
    while byte(at: end) != 0 { end += 1 }
    let name = (start + Self.nameOffset).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: name, count: end - Self.nameOffset)
  }

  /// Whether its name begins with a dot.
  var isHidden: Bool { byte(at: Self.nameOffset) == Self.dot }
  /// Whether it is `.` or `..`.
  var isDots: Bool {
    let (second, third) = (byte(at: Self.nameOffset + 1), byte(at: Self.nameOffset + 2))
    return isHidden && (second == 0 || (second == Self.dot && third == 0))
  }

  @inlinable
  func byte(at offset: Int) -> UInt8 { start.load(fromByteOffset: offset, as: UInt8.self) }
}

// MARK: - Writing

extension DirectoryRecord {
  /// The length of the record of a name.
  static func length(ofName count: Int) -> Int {
    (nameOffset + count + alignment) / alignment * alignment
  }

  static func write(_ entry: DirectoryListing.Entry, at start: UnsafeMutableRawPointer) {
    let length = UInt16(clamping: length(ofName: entry.name.count))
    start.storeBytes(of: entry.inode, as: UInt64.self)
    start.storeBytes(of: length, toByteOffset: lengthOffset, as: UInt16.self)
    start.storeBytes(of: entry.type.entryType, toByteOffset: typeOffset, as: UInt8.self)
    if let name = entry.name.baseAddress {
      (start + nameOffset).copyMemory(from: name, byteCount: entry.name.count)
    }
    start.storeBytes(of: 0, toByteOffset: nameOffset + entry.name.count, as: UInt8.self)
  }
}
