/// All the bytes of a regular file; nil where there is none. Other kinds of files, a pipe for
/// instance, count as none and are not waited for.
package func fileContents(
  of path: Path, followsLinks: Bool = true
) throws(SystemError) -> [UInt8]? {
  do {
    let flags = O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    return try contents(of: try Descriptor.open(path, flags), at: path)
  } catch {
    if error.code == ENOENT || error.code == ENOTDIR { return nil }
    throw error
  }
}

/// Reads an open file to its end; nil if it is not a regular one.
private func contents(
  of file: borrowing Descriptor, at path: Path
) throws(SystemError) -> [UInt8]? {
  let number = file.number
  var status = stat()
  _ = try checked("fstat", path: path) { fstat(number, &status) }
  guard status.st_mode & S_IFMT == S_IFREG else { return nil }

  var bytes: [UInt8] = []
  // One byte more than the file is said to have, so that the read which brings all of it may see
  // the end as well. Files that the kernel makes up are said to be empty, and some must be read at
  // once.
  var room = max(Int(status.st_size) + 1, 4096)
  while true {
    var failure: SystemError?
    let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let filled = retryingOnInterrupt { read(number, buffer.baseAddress, buffer.count) }
      if filled < 0 { failure = .last("read", path: path) }
      count = max(filled, 0)
    }
    if let failure { throw failure }
    if chunk.isEmpty { return bytes }
    bytes += chunk
    room = 4096
  }
}
