#if os(Linux)

/// Where the file lies to which a descriptor writes; nil if it is no file, such as a terminal or a pipe, or
/// has no name any more.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  let link = Path("/proc/self/fd/\(descriptor)")
  guard let status = try? FileStatus(of: link, followsLinks: true), status.type == .file,
    let path = try? linkTarget(of: link), let named = try? FileStatus(of: path),
    named.device == status.device, named.inode == status.inode
  else { return nil }
  return path
}

#endif  // os(Linux)
