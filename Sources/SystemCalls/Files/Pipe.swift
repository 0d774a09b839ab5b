/// The write end of a pipe, that of a pseudo-terminal, or `/dev/null`. It is closed with the last reference.
package final class PipeInput: Sendable, HashableByIdentity {
  /// The number, for a call that borrows it.
  package let number: Int32

  fileprivate init(owning number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// A descriptor that discards all writes.
  package static func discarding() throws(SystemError) -> PipeInput {
    PipeInput(owning: try Descriptor.open("/dev/null", O_WRONLY).release())
  }
}

/// A pipe from which nothing can ever be read and whose end is not reached while it exists: the standard input of
/// a program that ends with its input. Neither end is inherited, and the read end blocks.
package final class SilentPipe: Sendable, HashableByIdentity {
  /// The number of the read end, for a call that borrows it.
  let reader: Int32
  private let writer: PipeInput

  package init() throws(SystemError) {
    (reader, writer) = try makePipe()
    _ = fcntl(reader, F_SETFL, 0)
  }

  deinit {
    close(reader)
  }
}

/// An owner of a resource, which is equal to itself only.
package protocol HashableByIdentity: AnyObject, Hashable {}

extension HashableByIdentity {
  package static func == (left: Self, right: Self) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Creates a pipe. The read end does not block, and the caller must close it; the write end blocks. Neither
/// is inherited.
package func makePipe() throws(SystemError) -> (output: Int32, input: PipeInput) {
  var ends: [Int32] = [-1, -1]
  _ = try checked("pipe") { csystem_pipe(&ends) }
  return (ends[0], PipeInput(owning: ends[1]))
}

/// Creates a pseudo-terminal for the output of programs. The read end does not block, and the caller must close
/// it. Neither end is inherited.
package func makePseudoTerminal(
  _ size: Terminal.Size
) throws(SystemError) -> (output: Int32, input: PipeInput) {
  var ends: [Int32] = [-1, -1]
  _ = try checked("openpt") { csystem_terminal(&ends, Int32(size.columns), Int32(size.rows)) }
  return (ends[0], PipeInput(owning: ends[1]))
}

/// The result of a read that does not block.
package enum ReadOutcome: Hashable, Sendable {
  case bytes([UInt8])
  /// Nothing can be read now.
  case nothing
  /// Nothing will follow: all writers have closed the pipe, or it cannot be read.
  case end
}

/// Reads the available bytes, at most `limit`.
package func readAvailable(_ descriptor: Int32, atMost limit: Int) -> ReadOutcome {
  var isOver = false
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    let result = retryingOnInterrupt { read(descriptor, buffer.baseAddress, limit) }
    count = max(0, result)
    isOver = result == 0 || result == -1 && errno != EAGAIN
  }
  if isOver { return .end }
  return bytes.isEmpty ? .nothing : .bytes(bytes)
}

/// Whether the descriptor is a pipe or a socket.
package func isPipeOrSocket(_ descriptor: Int32) -> Bool {
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { return false }
  let type = status.st_mode & S_IFMT
  return type == S_IFIFO || type == S_IFSOCK
}
