import SystemCalls

/// The file system operations of the tests, one system call each unless documented otherwise.
package enum File {
  /// Creates a file, or replaces its content; with `O_APPEND`, appends to it, and with 0, writes over its
  /// beginning.
  package static func write(_ bytes: [UInt8], to path: Path, _ flag: Int32 = O_TRUNC)
    throws(SystemError)
  {
    let file = try Descriptor.open(path, O_WRONLY | O_CREAT | flag, mode: 0o644)
    try writeAll(bytes, to: file.number)
  }

  package static func write(_ text: String, to path: Path) throws(SystemError) {
    try write(Array(text.utf8), to: path)
  }

  /// The content of a file; empty if it does not exist.
  package static func read(_ path: Path) throws(SystemError) -> String {
    String(decoding: try fileContents(of: path) ?? [], as: UTF8.self)
  }

  package static func exists(_ path: Path) -> Bool {
    (try? FileStatus(of: path)) != nil
  }

  package static func truncate(_ path: Path, to size: Int) throws(SystemError) {
    try call("truncate", path) { SystemCalls.truncate($0, off_t(size)) }
  }

  /// Changes the first byte through a memory map, and closes the file.
  package static func writeThroughMap(_ path: Path) throws(SystemError) {
    let file = try Descriptor.open(path, O_RDWR)
    let map = mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
    guard let map, map != MAP_FAILED else { throw SystemError(call: "mmap", code: errno) }
    map.storeBytes(of: UInt8(ascii: "m"), as: UInt8.self)
    _ = try checked("msync") { msync(map, 1, MS_SYNC) }
    _ = try checked("munmap") { munmap(map, 1) }
  }

  package static func makeDirectory(_ path: Path) throws(SystemError) {
    try call("mkdir", path) { mkdir($0, 0o755) }
  }

  /// Creates a directory and its missing ancestors.
  package static func makeDirectories(_ path: Path) throws(SystemError) {
    if let parent = path.parent, (try? FileStatus(of: parent, followsLinks: true)) == nil {
      try makeDirectories(parent)
    }
    if (try? FileStatus(of: path)) == nil { try makeDirectory(path) }
  }

  package static func remove(_ path: Path) throws(SystemError) {
    try call("unlink", path) { unlink($0) }
  }

  package static func removeDirectory(_ path: Path) throws(SystemError) {
    try call("rmdir", path) { rmdir($0) }
  }

  /// Removes a file, or a directory with its descendants, also if its mode forbids that.
  package static func removeTree(_ path: Path) throws(SystemError) {
    guard try FileStatus(of: path).type == .directory else { return try remove(path) }
    _ = path.withCString { chmod($0, 0o700) }
    for name in try names(in: path) { try removeTree(path.appending(name)) }
    try removeDirectory(path)
  }

  /// The names of the entries of a directory.
  package static func names(in directory: Path) throws(SystemError) -> [[UInt8]] {
    try directoryNames(of: directory).map(\.bytes)
  }

  package static func move(_ old: Path, to new: Path) throws(SystemError) {
    try call("rename", old) { start in new.withCString { rename(start, $0) } }
  }

  /// Exchanges two entries atomically.
  package static func exchange(_ one: Path, _ other: Path) throws(SystemError) {
    try call("renameat2", one) { start in
      other.withCString { renameat2(AT_FDCWD, start, AT_FDCWD, $0, renameExchange) }
    }
  }

  /// Creates a hard link.
  package static func link(_ path: Path, as other: Path) throws(SystemError) {
    try call("link", path) { start in other.withCString { SystemCalls.link(start, $0) } }
  }

  /// Creates a symbolic link.
  package static func makeLink(_ path: Path, to target: Path) throws(SystemError) {
    try call("symlink", path) { start in target.withCString { symlink($0, start) } }
  }

  /// The target of a symbolic link.
  package static func target(of path: Path) throws(SystemError) -> Path {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = try checked("readlink", path: path) {
      path.withCString { readlink($0, &bytes, bytes.count) }
    }
    return Path(bytes: bytes[..<count].map { UInt8(bitPattern: $0) })
  }

  /// Writes a file without a name, and then links it to one.
  package static func linkUnnamed(_ bytes: [UInt8], as path: Path) throws(SystemError) {
    let file = try Descriptor.open(path.parent ?? "/", O_WRONLY | unnamed, mode: 0o644)
    try writeAll(bytes, to: file.number)
    let number = file.number
    try call("linkat", path) { start in
      Path("/proc/self/fd/\(number)").withCString {
        linkat(AT_FDCWD, $0, AT_FDCWD, start, AT_SYMLINK_FOLLOW)
      }
    }
  }

  package static func setMode(_ mode: mode_t, of path: Path) throws(SystemError) {
    try call("chmod", path) { chmod($0, mode) }
  }

  /// Sets the times of a file to the present, or to a past time. Opens the file, as `touch` does.
  package static func touch(_ path: Path, isOld: Bool) throws(SystemError) {
    let file = try Descriptor.open(path, O_WRONLY | O_CREAT, mode: 0o644)
    let number = file.number
    let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    _ = try checked("futimens", path: path) {
      isOld ? futimens(number, [old, old]) : futimens(number, nil)
    }
  }

  package static func makePipe(_ path: Path) throws(SystemError) {
    try call("mkfifo", path) { mkfifo($0, 0o644) }
  }

  private static func call(
    _ name: String, _ path: Path, _ body: (UnsafePointer<CChar>) -> Int32
  ) throws(SystemError) {
    _ = try checked(name, path: path) { path.withCString(body) }
  }
}

private let renameExchange: UInt32 = 2
/// `O_TMPFILE`, which Swift does not import.
private let unnamed: Int32 = 0o20_200_000

/// Every C library on Linux has it, but only declares it with GNU extensions.
@_silgen_name("renameat2")
private func renameat2(
  _ oldDirectory: Int32, _ old: UnsafePointer<CChar>, _ newDirectory: Int32,
  _ new: UnsafePointer<CChar>, _ flags: UInt32
) -> Int32
