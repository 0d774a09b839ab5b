/// The result of `stat` for one file.
package struct FileStatus: Hashable, Sendable {
  package let type: FileType
  package let device: UInt64
  package let inode: UInt64
  package let size: UInt64
  package let modified: FileTime
  package let changed: FileTime
  /// The creation time; `nil` where the file system does not record it.
  package let born: FileTime?
  /// A hash of the mode, the owner, the group and the number of links, except that of a directory,
  /// which counts its subdirectories.
  package let attributes: UInt64

  package init(
    type: FileType, device: UInt64, inode: UInt64, size: UInt64, modified: FileTime,
    changed: FileTime, born: FileTime?, attributes: UInt64
  ) {
    (self.type, self.device, self.inode, self.size) = (type, device, inode, size)
    (self.modified, self.changed, self.born) = (modified, changed, born)
    self.attributes = attributes
  }

  /// Queries the file at `path`. A symbolic link is not followed unless `followsLinks` is set.
  package init(of path: Path, followsLinks: Bool = false) throws(SystemError) {
    let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
    try self.init(call: "stat", path: path) { status in
      path.withCString { csystem_file_status(AT_FDCWD, $0, flags, &status) }
    }
  }

  /// Queries the entry `name`, a C string, of an open directory. Links are not followed.
  package init(
    of name: UnsafePointer<CChar>, in directory: borrowing Descriptor
  ) throws(SystemError) {
    let number = directory.number
    try self.init(call: "fstatat", path: nil) { status in
      csystem_file_status(number, name, AT_SYMLINK_NOFOLLOW, &status)
    }
  }

  init(
    call: String, path: Path?, _ read: (inout csystem_file_status) -> Int32
  ) throws(SystemError) {
    var status = csystem_file_status()
    _ = try checked(call, path: path) { read(&status) }
    type = FileType(mode: status.mode)
    device = status.device
    inode = status.inode
    size = status.size
    modified = FileTime(nanoseconds: status.modified_ns)
    changed = FileTime(nanoseconds: status.changed_ns)
    born = status.born_ns == 0 ? nil : FileTime(nanoseconds: status.born_ns)
    let links = type == .directory ? 0 : UInt64(status.links)
    attributes =
      (UInt64(status.mode) << 32 | links) &* 0x9e37_79b9_7f4a_7c15
      ^ (UInt64(status.user) << 32 | UInt64(status.group))
  }
}

extension FileStatus {
  package init(of file: borrowing Descriptor) throws(SystemError) {
    let number = file.number
    try self.init(call: "fstat", path: nil) { status in
      csystem_file_status(number, nil, 0, &status)
    }
  }
}
