import SystemCalls

/// The identity of a file, regardless of its name.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
  }
}

extension FileStatus {
  func isBorn(since: FileTime) -> Bool {
    born.map { $0 >= since } ?? false
  }
}
