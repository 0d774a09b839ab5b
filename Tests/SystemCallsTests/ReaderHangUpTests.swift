#if os(Linux)

import SystemCalls
import Testing

struct ReaderHangUpTests {
  /// - Parameter time: In milliseconds. Until a process that another test starts has begun its program, it has the
  ///   descriptors of this one.
  private func isReadable(_ descriptor: Int32, within time: Int32 = 0) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, time) == 1
  }

  @Test func `only the end of the last reader is noticed, not what is written and read`() throws {
    let (output, input) = try makePipe()
    let copy = fcntl(output, F_DUPFD_CLOEXEC, 0)
    let hangUp = try openReaderHangUp(of: input.number).release()
    defer { close(hangUp) }
    for _ in 0..<3 {
      try writeAll([UInt8](repeating: 0, count: 4096), to: input.number)
      #expect(!isReadable(hangUp))
      guard case .bytes = readAvailable(output, atMost: 4096) else { throw TestFailure() }
      #expect(!isReadable(hangUp))
    }
    close(output)
    #expect(!isReadable(hangUp))
    close(copy)
    #expect(isReadable(hangUp, within: 10_000))
  }

  @Test func `a reader that has gone before is noticed`() throws {
    let (output, input) = try makePipe()
    close(output)
    let hangUp = try openReaderHangUp(of: input.number).release()
    defer { close(hangUp) }
    #expect(isReadable(hangUp, within: 10_000))
  }

  @Test func `a file has no reader`() throws {
    let file = try Descriptor.open("/dev/null", O_WRONLY)
    #expect(throws: SystemError.self) { _ = try openReaderHangUp(of: file.number).release() }
  }

  private struct TestFailure: Error {}
}

#endif  // os(Linux)
