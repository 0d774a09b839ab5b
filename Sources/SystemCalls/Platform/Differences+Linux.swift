#if os(Linux)

// What is small and different on Linux.

/// The user's directory for caches, relative to the home directory.
package let cacheDirectoryName = ".cache"

/// The program that opens a URL as the user wishes.
package let openerOfURLs = "xdg-open"

/// The path of the file that a descriptor refers to; `nil` if it is not a regular file, or was unlinked.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  let link = Path("/proc/self/fd/\(descriptor)")
  guard let status = try? FileStatus(of: link, followsLinks: true), status.type == .file,
    let path = try? linkTarget(of: link), let named = try? FileStatus(of: path),
    named.device == status.device, named.inode == status.inode
  else { return nil }
  return path
}

let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

/// A clock that stands still while the machine sleeps.
let uptimeClock = CLOCK_MONOTONIC
/// The clock of file timestamps.
let fileClock = CLOCK_REALTIME_COARSE

/// The arguments of this process as bytes, the name of the program first.
///
/// `CommandLine` reads them from `/proc`, and has none where that is not mounted.
package func processArguments() -> [[UInt8]] {
  var count: Int32 = 0
  let words = UnsafeBufferPointer(start: csystem_arguments(&count), count: Int(count))
  return words.map { $0.map { Path(cString: $0).bytes } ?? [] }
}

/// Opens a descriptor that becomes readable when the last reader of a pipe, or the peer of a socket, has closed it.
/// Nothing that is written or read in between makes it readable.
package func openReaderHangUp(of descriptor: Int32) throws(SystemError) -> Descriptor {
  guard isPipeOrSocket(descriptor) else { throw SystemError(call: "epoll_ctl", code: EPERM) }
  return Descriptor(owning: try checked("epoll_create1") { csystem_edges_open(descriptor, 0) })
}

/// The name of the kind of file system of a path, such as `nfs`, if other machines make changes there that the
/// kernel does not report; `nil` for all others.
package func eventlessFileSystem(of path: Path) -> String? {
  namesByType[path.withCString { csystem_file_system_type($0) }]
}

/// The numbers are those of linux/magic.h and of modules that it does not list.
private let namesByType: [Int64: String] = [
  0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb2", 0x517b: "smb",
  0x0102_1997: "9p", 0x6573_5546: "fuse", 0x786f_4256: "vboxsf", 0x5346_414f: "afs",
  0x7375_7245: "coda", 0x00c3_6400: "ceph", 0x0bd0_0bd0: "lustre",
  0x0116_1970: "gfs2", 0x7461_636f: "ocfs2", 0x0131_11a8: "ibrix", 0xaad7_aaea: "panfs",
  0x4750_4653: "gpfs", 0xbacb_acbc: "vmhgfs", 0x2011_1970: "orangefs", 0x7c7c_6673: "prl_fs",
]

#endif  // os(Linux)
