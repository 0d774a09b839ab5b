/// Reads a regular file; `nil` if there is none. A pipe or another special file counts as none and never
/// blocks.
///
/// - Parameter limit: How many bytes are read at most.
package func fileContents(
  of path: Path, followsLinks: Bool = true, atMost limit: Int = .max
) throws(SystemError) -> [UInt8]? {
  do {
    let flags = O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    let file = try Descriptor.open(path, flags)
    let status = try FileStatus(of: file)
    guard status.type == .file else { return nil }
    // One byte more than the size of the file, so that the first read already finds the end. The size of
    // files in /proc is 0, and some of them must be read at once.
    let partSize = max(Int(clamping: status.size) + 1, 4096)
    return try readAll(file, path: path, partSize: partSize, atMost: limit)
  } catch {
    if error.code == ENOENT || error.code == ENOTDIR { return nil }
    throw error
  }
}
