#if os(Linux)

/// A kind of file system on which other machines make changes that the kernel does not report.
package struct FileSystemKind: Hashable, Sendable {
  /// Its name, such as `nfs`.
  package let name: String

  /// The kind of the file system of `path`, if the kernel reports only the changes of this machine there;
  /// `nil` for all others.
  package static func withoutEvents(at path: Path) -> FileSystemKind? {
    let type = path.withCString { csystem_file_system_type($0) }
    return namesByType[type].map(FileSystemKind.init(name:))
  }

  /// The numbers are those of linux/magic.h and of modules that it does not list.
  private static let namesByType: [Int64: String] = [
    0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb2", 0x517b: "smb",
    0x0102_1997: "9p", 0x6573_5546: "fuse", 0x786f_4256: "vboxsf", 0x5346_414f: "afs",
    0x7375_7245: "coda", 0x00c3_6400: "ceph", 0x0bd0_0bd0: "lustre",
    0x0116_1970: "gfs2", 0x7461_636f: "ocfs2", 0x0131_11a8: "ibrix", 0xaad7_aaea: "panfs",
    0x4750_4653: "gpfs", 0xbacb_acbc: "vmhgfs", 0x2011_1970: "orangefs", 0x7c7c_6673: "prl_fs",
  ]
}

#endif  // os(Linux)
