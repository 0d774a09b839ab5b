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

/// Reads a file part by part, into one buffer.
///
/// A symbolic link is refused, and a pipe does not block.
///
/// - Parameter body: Called with each part, which is valid during the call. Returns false to stop.
package func readFile(
  _ path: Path, partSize: Int = 64 * 1024, _ body: (UnsafeRawBufferPointer) -> Bool
) throws(SystemError) {
  let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  let number = file.number
  let part = UnsafeMutableRawBufferPointer.allocate(byteCount: partSize, alignment: 16)
  defer { part.deallocate() }
  while true {
    let count = try checked("read", path: path) { read(number, part.baseAddress, part.count) }
    if count == 0 { return }
    guard body(UnsafeRawBufferPointer(rebasing: part[..<count])) else { return }
  }
}
