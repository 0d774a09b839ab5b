import Foundation
import Synchronization
import SystemCalls

/// Reads a descriptor to its end on a thread of its own, and keeps the bytes.
final class ByteCollector: Sendable {
  private let collected = Mutex(Collected())
  private let end = Mutex(false)

  private struct Collected {
    var bytes: [UInt8] = []
    /// The complete lines, kept because tests ask for them again and again.
    var lines: [String] = []
    /// Where the last, incomplete line begins.
    var lineStart = 0

    mutating func add(_ part: UnsafeRawBufferPointer) {
      var searchStart = bytes.count
      bytes.append(contentsOf: part)
      while let end = bytes.index(of: UInt8(ascii: "\n"), from: searchStart) {
        let hasReturn = end > lineStart && bytes[end - 1] == UInt8(ascii: "\r")
        lines.append(
          String(decoding: bytes[lineStart..<(hasReturn ? end - 1 : end)], as: UTF8.self))
        lineStart = end + 1
        searchStart = lineStart
      }
    }
  }

  /// Takes ownership of the descriptor. Reads it to its end, or until `stop` is readable.
  init(reading descriptor: Int32, until stop: Int32 = -1) {
    Thread.detachNewThread { [self] in
      var part = [UInt8](repeating: 0, count: 64 * 1024)
      while true {
        var waiting = [
          pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
          pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        _ = retryingOnInterrupt { poll(&waiting, 2, -1) }
        if waiting[1].revents != 0 { break }
        // A terminal whose other side is closed fails with EIO.
        let count = retryingOnInterrupt { read(descriptor, &part, part.count) }
        guard count > 0 else { break }
        part.withUnsafeBytes { part in
          collected.withLock { $0.add(UnsafeRawBufferPointer(rebasing: part[..<count])) }
        }
      }
      close(descriptor)
      end.withLock { $0 = true }
    }
  }

  /// Whether all writers have closed it, and everything is read.
  var isAtEnd: Bool { end.withLock { $0 } }

  var bytes: [UInt8] { collected.withLock { $0.bytes } }

  /// The number of bytes so far.
  var count: Int { collected.withLock { $0.bytes.count } }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The complete lines, without the carriage returns of a terminal.
  var lines: [String] { collected.withLock { $0.lines } }

  /// Removes the bytes, wherever they are first. Returns false if they have not been read.
  func remove(_ part: [UInt8]) -> Bool {
    collected.withLock { collected in
      guard let range = Data(collected.bytes).range(of: Data(part)) else { return false }
      var rest = collected.bytes
      rest.removeSubrange(range)
      collected = Collected()
      rest.withUnsafeBytes { collected.add($0) }
      return true
    }
  }

  /// The complete lines after `offset`, as bytes, and the offset of the next one.
  func lines(from offset: Int) -> (lines: [[UInt8]], next: Int) {
    let (bytes, end) = collected.withLock { ($0.bytes, $0.lineStart) }
    var (lines, next): ([[UInt8]], Int) = ([], offset)
    while next < end, let lineEnd = bytes.index(of: UInt8(ascii: "\n"), from: next) {
      lines.append(Array(bytes[next..<lineEnd]))
      next = lineEnd + 1
    }
    return (lines, next)
  }

  /// Waits until there is a value, which is looked for whenever there is new output, and returns it.
  func value<Value>(
    _ claim: String, within limit: Duration = patience, _ find: () throws -> Value?
  ) async throws -> Value {
    var examined = -1
    return try await EndToEndTests.value(claim, within: limit) {
      let count = count
      if count == examined { return nil }
      examined = count
      return try find()
    }
  }
}

extension [UInt8] {
  /// The first index of the byte from `start` on. A search by the standard library takes ten times as long
  /// without optimization.
  func index(of byte: UInt8, from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress else { return nil }
      return memchr(base + start, Int32(byte), bytes.count - start).map {
        UnsafeRawPointer($0) - base
      }
    }
  }
}
