/// The end of a pipe into which a process writes, or `/dev/null`. It is closed when nobody holds it any more.
package final class PipeInput: Sendable, Hashable {
  /// The number, for a call that borrows it.
  package let number: Int32

  fileprivate init(owning number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// Discards what is written.
  package static func discarding() throws(SystemError) -> PipeInput {
    PipeInput(owning: try Descriptor.open("/dev/null", O_WRONLY).release())
  }

  package static func == (left: PipeInput, right: PipeInput) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// A pipe: the end to read, which does not wait and is to be closed by the caller, and the end to write,
/// which does wait. Neither is inherited by a process that is not given it.
package func makePipe() throws(SystemError) -> (output: Int32, input: PipeInput) {
  var ends: [Int32] = [-1, -1]
  _ = try checked("pipe") { csystem_pipe(&ends) }
  return (ends[0], PipeInput(owning: ends[1]))
}

/// What a read of a descriptor has come to that does not wait.
package enum ReadOutcome: Hashable, Sendable {
  case bytes([UInt8])
  /// Nothing is there for now.
  case nothing
  /// Nothing will ever come: all who could write have gone, or it cannot be read.
  case end
}

/// Reads what is there, at most so many bytes.
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
