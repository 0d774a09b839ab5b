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

  // One byte more than the size of the file, so that the first read already finds the end. The size of
  // files in /proc is 0, and some of them must be read at once.
  return try readAll(file, path: path, partSize: max(Int(status.st_size) + 1, 4096))
}
