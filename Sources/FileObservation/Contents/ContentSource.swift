import Support
import SystemCalls

/// A source of file contents: the disk, or an imitation in tests.
package protocol ContentSource: Sendable {
  /// Reads a file. `nil` if it is not a regular file, is too large, cannot be read, or changes
  /// during the reading.
  func sample(of path: Path) -> ContentSample?

  /// Identity and times of a file or directory; `nil` if the path does not exist. Does not follow a
  /// link.
  func stamp(of path: Path) -> FileStamp?
}

/// The content of a file at one moment.
package struct ContentSample: Hashable, Sendable {
  package let digest: ContentDigest
  package let stamp: FileStamp
}

/// Identity, size and times of a file or directory.
///
/// Two equal stamps of a path mean that the file was neither written to nor replaced in between, as
/// far as the clock's resolution can tell.
package struct FileStamp: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: UInt64
  /// The mtime: of the last write, or, for a directory, of the last change of its entries.
  package let modified: FileTime
  /// The ctime: of the last write, rename or other change. Programs cannot set it.
  package let changed: FileTime
}

extension FileStamp {
  init(_ status: FileStatus) {
    self.init(
      device: status.device, inode: status.inode, size: status.size, modified: status.modified,
      changed: status.changed)
  }
}

/// The files on disk.
package struct DiskContents: ContentSource {
  private let largestFile: Int

  package init(largestFile: Int) {
    self.largestFile = largestFile
  }

  package func sample(of path: Path) -> ContentSample? {
    guard let status = try? FileStatus(of: path), status.type == .file,
      status.size <= UInt64(clamping: largestFile)
    else { return nil }
    var hasher = ContentHasher()
    var count: UInt64 = 0
    do throws(SystemError) {
      try readFile(path) { part in
        hasher.update(part)
        count += UInt64(part.count)
        return count <= status.size
      }
    } catch {
      return nil
    }
    let stamp = FileStamp(status)
    // If the file has changed meanwhile, the bytes may be of two versions.
    guard count == status.size, self.stamp(of: path) == stamp else { return nil }
    return ContentSample(digest: hasher.finish(), stamp: stamp)
  }

  package func stamp(of path: Path) -> FileStamp? {
    (try? FileStatus(of: path)).map { FileStamp($0) }
  }
}
