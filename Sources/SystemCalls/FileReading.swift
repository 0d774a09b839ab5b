/// Reads a file from its beginning, part by part, into memory that is used again for each part.
///
/// A symbolic link is refused, and a pipe is not waited for.
///
/// - Parameter body: Is given each part, which lives as long as the call; false if that is enough.
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
