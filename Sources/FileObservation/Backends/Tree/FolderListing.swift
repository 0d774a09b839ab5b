import PathFiltering
import SystemCalls

/// The entries of one folder, as read from it. Used again for each.
struct FolderListing {
  private var bytes: [UInt8] = []
  private var items: [(start: Int, count: Int, type: FileType)] = []
  private(set) var ignoreFiles: IgnoreFileNames = []

  var count: Int { items.count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    items.removeAll(keepingCapacity: true)
    ignoreFiles = []
  }

  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ type: FileType) {
    items.append((bytes.count, name.count, type))
    bytes.append(contentsOf: name)
    bytes.append(0)
    ignoreFiles.formUnion(IgnoreFileNames.of(name))
  }

  /// Calls `body` with an entry's name, behind which there is a NUL, and its type.
  func withItem<Result>(
    _ index: Int, _ body: (UnsafeBufferPointer<UInt8>, FileType) -> Result
  ) -> Result {
    let item = items[index]
    return bytes.withUnsafeBufferPointer {
      body(UnsafeBufferPointer(rebasing: $0[item.start..<(item.start + item.count)]), item.type)
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
