import Support
import SystemCalls

/// Where contents come from: the disk, or in tests a made-up one.
package protocol ContentSource: Sendable {
  /// What is in the file of that name now; nil if that cannot be said: it is no regular file, is too
  /// large, may not be read, or changed while it was read.
  func sample(of path: Path) -> ContentSample?

  /// Which file or folder the path leads to now, itself no link; nil if to none.
  func stamp(of path: Path) -> FileStamp?
}

/// What was in a file at one moment.
package struct ContentSample: Hashable, Sendable {
  package let digest: ContentDigest
  package let stamp: FileStamp

  package init(digest: ContentDigest, stamp: FileStamp) {
    self.digest = digest
    self.stamp = stamp
  }
}

/// Which file it is, and when it has last changed: two equal stamps of a path mean that nobody has
/// written to the file in between, or put another in its place, within what the clock resolves.
package struct FileStamp: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: UInt64
  /// When it was last written to; of a folder, when its entries last changed.
  package let modified: FileTime
  /// When it was last written to, renamed, or otherwise changed. Cannot be set at will.
  package let changed: FileTime

  package init(
    device: UInt64 = 0, inode: UInt64, size: UInt64, modified: FileTime, changed: FileTime
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  /// True if it is the same file or folder, whatever has happened to it.
  package func isOneFile(with other: FileStamp) -> Bool {
    device == other.device && inode == other.inode
  }

  init(_ status: FileStatus) {
    self.init(
      device: status.device, inode: status.inode, size: status.size, modified: status.modified,
      changed: status.changed)
  }
}

/// A folder, and which one it was when observing began.
package struct DirectoryAtStart: Hashable, Sendable {
  package let path: Path
  package let stamp: FileStamp

  package init(path: Path, stamp: FileStamp) {
    self.path = path
    self.stamp = stamp
  }
}

/// The files on the disk.
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
    // Half-written, or another by now: then there is no saying what was read.
    guard count == status.size, self.stamp(of: path) == stamp else { return nil }
    return ContentSample(digest: hasher.finish(), stamp: stamp)
  }

  package func stamp(of path: Path) -> FileStamp? {
    (try? FileStatus(of: path)).map { FileStamp($0) }
  }
}
