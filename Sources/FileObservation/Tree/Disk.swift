import SystemCalls

/// The disk as the tree sees it: what is at a path, what a directory contains, and the clock of its
/// timestamps. Its watches are a ``HintSource``.
///
/// Tests replace it, so that anything can happen between two calls.
protocol Disk: AnyObject {
  /// The status of the file at `path`. A symbolic link is not followed unless `followsLinks` is set.
  func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus

  /// The status of an entry of an open directory, by its name, which a NUL follows.
  func status(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) -> FileStatus

  /// The status of an open directory.
  func status(of directory: borrowing Descriptor) throws(SystemError) -> FileStatus

  /// Opens a directory for listing. A symbolic link is refused unless `followsLinks` is set.
  func openDirectory(_ path: Path, followsLinks: Bool) throws(SystemError) -> Descriptor

  /// Opens the directory at `path`, an entry of an open directory.
  func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor

  /// Replaces a listing by that of an open directory.
  func list(
    _ directory: borrowing Descriptor, into listing: inout DirectoryListing
  ) throws(SystemError)

  /// The target of a symbolic link.
  func linkTarget(of path: Path) throws(SystemError) -> Path

  /// The path without symbolic links.
  func resolved(_ path: Path) throws(SystemError) -> Path

  /// The files' contents.
  var contents: any ContentSource { get }

  /// The earliest timestamp of a file that changes from now on.
  var now: FileTime { get }

  /// The latest timestamp of a file that changed before now.
  var latest: FileTime { get }
}

extension Disk {
  func status(of path: Path) throws(SystemError) -> FileStatus {
    try status(of: path, followsLinks: false)
  }

  func exists(_ path: Path, followsLinks: Bool) -> Bool {
    (try? status(of: path, followsLinks: followsLinks)) != nil
  }
}

/// The disk of the system. Not final, because tests interrupt some of its calls.
class SystemDisk: Disk {
  let contents: any ContentSource = DiskContents(largestFile: RacilyCleanFiles.largest)

  init() {}

  func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus {
    try FileStatus(of: path, followsLinks: followsLinks)
  }

  func status(
    ofListed name: UnsafeBufferPointer<UInt8>, in directory: borrowing Descriptor
  ) throws(SystemError) -> FileStatus {
    try FileStatus(ofListed: name, in: directory)
  }

  func status(of directory: borrowing Descriptor) throws(SystemError) -> FileStatus {
    // By its name, which needs the permission that its entries need too.
    try FileStatus(of: ".", in: directory)
  }

  func openDirectory(
    _ path: Path, followsLinks: Bool
  ) throws(SystemError) -> Descriptor {
    try .openDirectory(path, followsLinks: followsLinks)
  }

  func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor {
    try .openDirectory(path, in: parent)
  }

  func list(
    _ directory: borrowing Descriptor, into listing: inout DirectoryListing
  ) throws(SystemError) {
    try listing.read(directory)
  }

  func linkTarget(of path: Path) throws(SystemError) -> Path {
    try SystemCalls.linkTarget(of: path)
  }

  func resolved(_ path: Path) throws(SystemError) -> Path { try resolvedPath(path) }

  var now: FileTime { .now() }
  var latest: FileTime { .latest() }
}
