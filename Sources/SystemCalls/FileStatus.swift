/// What a path names.
public enum FileType: String, Sendable, Hashable, CaseIterable {
  /// A regular file.
  case file
  /// A folder.
  case directory
  /// A symbolic link itself, not what it points to.
  case symlink
  /// A pipe, socket or device.
  case other
  /// Not known: it is gone.
  case unknown
}

extension FileType {
  /// From a directory entry's `d_type`; nil where the file system does not say (`DT_UNKNOWN`).
  init?(entryType: UInt8) {
    switch Int(entryType) {
    case Int(DT_REG): self = .file
    case Int(DT_DIR): self = .directory
    case Int(DT_LNK): self = .symlink
    case Int(DT_UNKNOWN): return nil
    default: self = .other
    }
  }

  /// From a file's mode.
  init(mode: UInt32) {
    switch mode_t(mode) & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .directory
    case S_IFLNK: self = .symlink
    default: self = .other
    }
  }
}

/// A timestamp of a file, in nanoseconds since 1970.
package struct FileTime: Hashable, Comparable, Sendable {
  /// The granularity of the kernel's file clock, in nanoseconds, with a margin: changes that are
  /// further apart have different timestamps.
  ///
  /// The kernel takes timestamps from its coarse clock, which ticks 100 to 1000 times a second. A
  /// change may follow another within a tick and leave the timestamp as it is, so a timestamp that was
  /// younger than this when it was read does not prove that the file is unchanged.
  package static let granularity: Int64 = 20_000_000

  package let nanoseconds: Int64

  package init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  package static func < (left: FileTime, right: FileTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  package func advanced(by duration: Duration) -> FileTime {
    let (seconds, attoseconds) = duration.components
    return FileTime(
      nanoseconds: nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
  }

  /// The earliest that a file changed from this moment on is stamped with. Ticks every few
  /// milliseconds, so two changes may well bear the same time.
  package static func now() -> FileTime {
    FileTime(nanoseconds: csystem_file_clock_ns())
  }

  /// The latest that a file changed before this moment is stamped with: the kernel stamps more finely
  /// than by `now` where a file's time has been asked for.
  package static func latest() -> FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

/// What the kernel says of one file.
package struct FileStatus: Hashable, Sendable {
  package let type: FileType
  package let device: UInt64
  package let inode: UInt64
  package let size: UInt64
  package let modified: FileTime
  package let changed: FileTime
  /// When it was made; nil where the file system does not keep it.
  package let born: FileTime?
  /// Its mode, owner, group and number of names, as one number that differs where they do.
  package let attributes: UInt64

  /// Of the file at `path`. A symbolic link is not followed unless `followsLinks` is set.
  package init(of path: Path, followsLinks: Bool = false) throws(SystemError) {
    let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
    try self.init(call: "stat", path: path) { status in
      path.withCString { csystem_file_status(AT_FDCWD, $0, flags, &status) }
    }
  }

  /// Of the entry `name`, which ends with a NUL, in an open folder. Links are not followed.
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
    attributes =
      (UInt64(status.mode) << 32 | UInt64(status.links)) &* 0x9e37_79b9_7f4a_7c15
      ^ (UInt64(status.user) << 32 | UInt64(status.group))
  }
}

/// Where a path really leads, all links followed.
package func resolvedPath(_ path: Path) throws(SystemError) -> Path {
  guard let resolved = path.withCString({ realpath($0, nil) }) else {
    throw .last("realpath", path: path)
  }
  defer { free(resolved) }
  return Path(cString: resolved)
}

/// What a symbolic link holds.
package func linkTarget(of path: Path) throws(SystemError) -> Path {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = path.withCString { readlink($0, &bytes, bytes.count) }
  if count < 0 { throw .last("readlink", path: path) }
  return Path(bytes: bytes.prefix(count).map(UInt8.init(bitPattern:)))
}

/// The folder in which the process works.
package func currentDirectory() throws(SystemError) -> Path {
  guard let current = getcwd(nil, 0) else { throw .last("getcwd") }
  defer { free(current) }
  return Path(cString: current)
}

/// Makes `path` the folder in which the process works.
package func changeDirectory(to path: Path) throws(SystemError) {
  _ = try checked("chdir", path: path) { path.withCString { chdir($0) } }
}

extension Path {
  /// A path of the bytes up to the NUL.
  package init(cString: UnsafePointer<CChar>) {
    self.init(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
  }
}

/// Makes a folder that only this user can enter, where temporary files belong.
package func makeTemporaryDirectory(prefix: String) throws(SystemError) -> Path {
  let place = environmentVariable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  let pattern = Path(place).appending(prefix + "XXXXXX")
  let made = pattern.withCString { start -> Path? in
    guard let template = strdup(start) else { return nil }
    defer { free(template) }
    return mkdtemp(template) == nil ? nil : Path(cString: template)
  }
  guard let made else { throw .last("mkdtemp", path: pattern) }
  return made
}

/// Removes a file; one that is not there is no error.
package func removeFile(_ path: Path) {
  _ = path.withCString { unlink($0) }
}

/// Removes an empty folder; one that is not there is no error.
package func removeDirectory(_ path: Path) {
  _ = path.withCString { rmdir($0) }
}
