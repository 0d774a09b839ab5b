import Support
import SystemCalls

/// The disk as the tree sees it: what is at a path, what a directory contains, and the clock of its
/// timestamps. Its watches are a ``HintSource``.
///
/// Not final: tests override its calls, so that anything can happen between two of them.
class Disk {
  /// The status of the file at `path`. A symbolic link is not followed unless `followsLinks` is set.
  func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus {
    try FileStatus(of: path, followsLinks: followsLinks)
  }

  /// The status of an entry of an open directory, by its name, which a NUL follows.
  func status(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) -> FileStatus {
    try FileStatus(ofListed: name, in: directory)
  }

  /// The status of an open directory.
  func status(of directory: borrowing Descriptor) throws(SystemError) -> FileStatus {
    // By its name, which needs the permission that its entries need too.
    try FileStatus(of: ".", in: directory)
  }

  /// Opens a directory for listing. A symbolic link is refused unless `followsLinks` is set.
  func openDirectory(_ path: Path, followsLinks: Bool) throws(SystemError) -> Descriptor {
    try .openDirectory(path, followsLinks: followsLinks)
  }

  /// Opens the directory at `path`, an entry of an open directory.
  func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor {
    try .openDirectory(path, in: parent)
  }

  /// Replaces a listing by that of an open directory.
  func list(
    _ directory: borrowing Descriptor, into listing: inout DirectoryListing
  ) throws(SystemError) {
    try listing.read(directory)
  }

  /// The target of a symbolic link.
  func linkTarget(of path: Path) throws(SystemError) -> Path {
    try SystemCalls.linkTarget(of: path)
  }

  /// The path without symbolic links.
  func resolved(_ path: Path) throws(SystemError) -> Path { try resolvedPath(path) }

  /// The digest of a file's content; `nil` if it is too large, or cannot be read.
  func digest(of path: Path) -> ContentDigest? {
    contentDigest(of: path, atMost: RacilyCleanFiles.largest)
  }

  /// The earliest timestamp of a file that changes from now on.
  var now: FileTime { .now() }

  /// The latest timestamp of a file that changed before now.
  var latest: FileTime { .latest() }
}

extension Disk {
  func status(of path: Path) throws(SystemError) -> FileStatus {
    try status(of: path, followsLinks: false)
  }

  func exists(_ path: Path, followsLinks: Bool) -> Bool {
    (try? status(of: path, followsLinks: followsLinks)) != nil
  }
}
