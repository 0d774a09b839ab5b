import PathFiltering
import SystemCalls

/// The entries of a directory, as read from it. Reused for the next one.
struct DirectoryListing {
  typealias Item = (name: UnsafeBufferPointer<UInt8>, type: FileType, inode: UInt64)

  /// What is kept for the next, be the last as large as it may.
  private static let room = 1 << 12
  private static let mostKept = 1 << 20
  private static let headerLength = 11

  /// Of each entry the type, the length of its name in two bytes, its inode in eight, the name, and a NUL;
  /// and room for more.
  private var bytes: [UInt8] = []
  private var end = 0
  private(set) var ignoreFiles: IgnoreFileNames = []

  var isEmpty: Bool { end == 0 }

  mutating func removeAll() {
    if bytes.count > Self.mostKept { bytes = [] }
    end = 0
    ignoreFiles = []
  }

  mutating func append(
    _ name: UnsafeBufferPointer<UInt8>, _ type: FileType, _ inode: UInt64
  ) {
    let (start, next) = (end + Self.headerLength, end + Self.headerLength + 1 + name.count)
    while next > bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: max(bytes.count, Self.room)))
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

  /// Calls `body` with each, in order. Behind a name there is a NUL.
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
  /// Of the entry of this name, behind which there is a NUL, in an open folder; nil if it is gone.
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
