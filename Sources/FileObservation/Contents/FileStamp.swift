import SystemCalls

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

  package init(
    device: UInt64 = 0, inode: UInt64, size: UInt64, modified: FileTime, changed: FileTime
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: FileStatus) {
    self.init(
      device: status.device, inode: status.inode, size: status.size, modified: status.modified,
      changed: status.changed)
  }
}
