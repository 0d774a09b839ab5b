import SystemCalls

/// Open descriptors of the ancestors of the directory that a scan has reached. Opening a directory
/// relative to its parent saves the kernel the resolution of the whole path.
///
/// Descriptors are kept during a scan only. They must be closed when entries are removed.
final class OpenDirectories {
  private final class Directory {
    let entry: TreeSnapshot.Entry
    let descriptor: Descriptor

    init(_ entry: TreeSnapshot.Entry, _ descriptor: consuming Descriptor) {
      self.entry = entry
      self.descriptor = descriptor
    }
  }

  /// The largest number of descriptors. The next directory is seldom far from the last.
  private static let limit = 16

  /// Each directory is the parent of the next.
  private var ancestors: [Directory] = []

  /// Opens the directory at `path`, an entry of `parent`. Fails for a symbolic link.
  func open(
    _ path: Path, in parent: TreeSnapshot.Entry?, on disk: Disk
  ) throws(SystemError) -> Descriptor {
    while let last = ancestors.last, last.entry != parent { ancestors.removeLast() }
    guard let last = ancestors.last else {
      return try disk.openDirectory(path, followsLinks: false)
    }
    return try disk.openDirectory(path, in: last.descriptor)
  }

  /// Keeps a directory open whose subdirectories are opened next.
  func keep(_ descriptor: consuming Descriptor, of directory: TreeSnapshot.Entry) {
    if ancestors.count == Self.limit { ancestors.removeFirst() }
    ancestors.append(Directory(directory, descriptor))
  }

  func closeAll() {
    ancestors.removeAll(keepingCapacity: true)
  }
}
