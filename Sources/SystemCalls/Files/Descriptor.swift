/// A file descriptor with one owner. It is closed when the owner goes out of scope.
package struct Descriptor: ~Copyable {
  /// The number, for a call that borrows it.
  package let number: Int32

  /// Takes ownership of a descriptor.
  package init(owning number: Int32) {
    self.number = number
  }

  deinit {
    // Not repeated after EINTR: on Linux the descriptor is closed either way.
    close(number)
  }

  /// Gives up ownership: the caller must close the descriptor.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  package static func open(
    _ path: Path, _ flags: Int32, mode: mode_t = 0
  ) throws(SystemError) -> Descriptor {
    let number = try checked("open", path: path) {
      path.withCString { openat(AT_FDCWD, $0, flags | O_CLOEXEC, mode) }
    }
    return Descriptor(owning: number)
  }

  /// Opens a directory for listing. A symbolic link is refused unless `followsLinks` is set.
  package static func openDirectory(
    _ path: Path, followsLinks: Bool = false
  ) throws(SystemError) -> Descriptor {
    try open(path, directoryFlags | (followsLinks ? 0 : O_NOFOLLOW))
  }

  /// Opens the directory at `path` by its last component in an open parent, which saves the kernel the
  /// path lookup.
  package static func openDirectory(
    _ path: Path, in parent: borrowing Descriptor
  ) throws(SystemError) -> Descriptor {
    let nameStart = path.bytes.count - path.lastComponent.count
    let parentNumber = parent.number
    let number = try checked("openat", path: path) {
      path.withCString {
        openat(parentNumber, $0 + nameStart, directoryFlags | O_NOFOLLOW | O_CLOEXEC)
      }
    }
    return Descriptor(owning: number)
  }

  private static var directoryFlags: Int32 { O_RDONLY | O_DIRECTORY | O_NONBLOCK }
}

/// Opens `/dev/null` on each standard descriptor that is closed, so that no descriptor opened later gets
/// its number.
package func openMissingStandardDescriptors() {
  while true {
    let number = open("/dev/null", O_RDWR)
    if number > STDERR_FILENO { close(number) }
    if number < 0 || number > STDERR_FILENO { return }
  }
}

/// Writes all bytes, in as many calls as necessary.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = retryingOnInterrupt {
      rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
    rest = rest.dropFirst(max(count, 0))
    if count >= 0 { continue }
    // Any program that shares a terminal or a pipe can make it non-blocking.
    guard errno == EAGAIN else { throw .last("write") }
    _ = try LocalSocket.wait(for: descriptor, toWrite: true, atMost: nil)
  }
}

/// Reads standard input to its end: also a socket, which has no path, and what does not block.
package func readStandardInput() throws(SystemError) -> [UInt8] {
  let input = try Descriptor.duplicate(STDIN_FILENO)
  var content: [UInt8] = []
  while true {
    _ = try LocalSocket.wait(for: input.number, atMost: nil)
    let part = try readPart(input)
    if part.isEmpty { return content }
    content += part
  }
}

/// Reads all bytes of a file, a pipe or another stream.
package func readAll(_ path: Path) throws(SystemError) -> [UInt8] {
  try readAll(try Descriptor.open(path, O_RDONLY), path: path)
}

/// Reads at most `size` bytes of an open file from its present offset; none at its end.
private func readPart(
  _ file: borrowing Descriptor, path: Path? = nil, size: Int = 64 * 1024
) throws(SystemError) -> [UInt8] {
  let number = file.number
  var failure: SystemError?
  let part = [UInt8](unsafeUninitializedCapacity: max(size, 1)) { buffer, count in
    let filled = retryingOnInterrupt { read(number, buffer.baseAddress, buffer.count) }
    if filled < 0 { failure = .last("read", path: path) }
    count = max(filled, 0)
  }
  if let failure { throw failure }
  return part
}

/// Reads an open file from its present offset to its end, in parts of at most `partSize`.
///
/// - Parameter limit: How many bytes are read at most.
package func readAll(
  _ file: borrowing Descriptor, path: Path? = nil, partSize: Int = 64 * 1024,
  atMost limit: Int = .max
) throws(SystemError) -> [UInt8] {
  var content: [UInt8] = []
  while content.count < limit {
    let part = try readPart(file, path: path, size: min(partSize, limit - content.count))
    if part.isEmpty { break }
    if content.isEmpty { content = part } else { content += part }
  }
  return content
}

extension Descriptor {
  /// Another descriptor of the same file.
  package static func duplicate(_ number: Int32) throws(SystemError) -> Descriptor {
    Descriptor(owning: try checked("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) })
  }
}
