import PathFiltering
import SystemCalls

/// The entries of a directory in the order in which they were read. Reused for other directories.
struct DirectoryListing {
  typealias Item = (name: UnsafeBufferPointer<UInt8>, type: FileType, inode: UInt64)

  private static let minimumCapacity = 1 << 12
  /// The largest capacity that is kept for the next directory.
  private static let maximumCapacity = 1 << 20
  private static let headerLength = 11

  /// For each entry: the type, the length of the name in two bytes, the inode in eight bytes, the
  /// name and a NUL. The bytes from `end` on are unused.
  private var bytes: [UInt8] = []
  private var end = 0
  private(set) var ignoreFiles: IgnoreFileNames = []

  var isEmpty: Bool { end == 0 }

  mutating func removeAll() {
    if bytes.count > Self.maximumCapacity { bytes = [] }
    end = 0
    ignoreFiles = []
  }

  mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, _ inode: UInt64
  ) {
    let (start, next) = (end + Self.headerLength, end + Self.headerLength + 1 + name.count)
    while next > bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: max(bytes.count, Self.minimumCapacity)))
    }
    bytes.withUnsafeMutableBytes { bytes in
      bytes[end] = type.code
      bytes.storeBytes(of: UInt16(clamping: name.count), toByteOffset: end + 1, as: UInt16.self)
      bytes.storeBytes(of: inode, toByteOffset: end + 3, as: UInt64.self)
      UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(
        from: UnsafeRawBufferPointer(name))
      bytes[next - 1] = 0
    }
    end = next
    ignoreFiles.formUnion(IgnoreFileNames.of(name))
  }

  /// Calls `body` with each entry. A NUL follows each name.
  func forEach(_ body: (Item) -> Void) {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < end {
        let start = offset + Self.headerLength
        let count = Int(bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt16.self))
        let name = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        let inode = bytes.loadUnaligned(fromByteOffset: offset + 3, as: UInt64.self)
        body((name.assumingMemoryBound(to: UInt8.self), FileType(code: bytes[offset]), inode))
        offset = start + count + 1
      }
    }
  }
}

extension FileStatus {
  /// The status of an entry of an open directory, by a name that a NUL follows; `nil` if it is
  /// gone.
  init?(ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor) {
    guard let start = name.baseAddress else { return nil }
    let chars = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    do throws(SystemError) {
      try self.init(of: chars, in: directory)
    } catch {
      return nil
    }
  }
}
