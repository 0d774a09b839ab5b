import PathFiltering
import SystemCalls

/// The entries of one folder, as read from it. Used again for the next.
struct FolderListing {
  typealias Item = (name: UnsafeBufferPointer<UInt8>, type: FileType)

  /// What is kept for the next, be the last as large as it may.
  private static let room = 1 << 12
  private static let mostKept = 1 << 20

  /// Each entry's type, the length of its name in two bytes, the name, and a NUL; and room for more.
  private var bytes: [UInt8] = []
  private var end = 0
  private(set) var ignoreFiles: IgnoreFileNames = []

  var isEmpty: Bool { end == 0 }

  mutating func removeAll() {
    if bytes.count > Self.mostKept { bytes = [] }
    end = 0
    ignoreFiles = []
  }

  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ type: FileType) {
    let (start, next) = (end + 3, end + 4 + name.count)
    while next > bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: max(bytes.count, Self.room)))
    }
    bytes.withUnsafeMutableBytes { bytes in
      bytes[end] = type.code
      bytes.storeBytes(of: UInt16(clamping: name.count), toByteOffset: end + 1, as: UInt16.self)
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
        let start = offset + 3
        let count = Int(bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt16.self))
        let name = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        body((name.assumingMemoryBound(to: UInt8.self), FileType(code: bytes[offset])))
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
