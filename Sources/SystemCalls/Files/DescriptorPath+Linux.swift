#if os(Linux)

/// The path of the file that a descriptor refers to; `nil` if it is not a regular file, or was unlinked.
package func pathOfFile(_ descriptor: Int32) -> Path? {
  let link = Path("/proc/self/fd/\(descriptor)")
  guard let status = try? FileStatus(of: link, followsLinks: true), status.type == .file,
    let path = try? linkTarget(of: link), let named = try? FileStatus(of: path),
    named.device == status.device, named.inode == status.inode
  else { return nil }
  return path
}

#endif  // os(Linux)
