import Foundation
import Synchronization
import SystemCalls

/// Reads a descriptor to its end on a thread of its own, and keeps the bytes.
final class ByteCollector: Sendable {
  private let collected = Mutex<[UInt8]>([])
  private let end = Mutex(false)

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
        collected.withLock { $0.append(contentsOf: part[..<count]) }
      }
      close(descriptor)
      end.withLock { $0 = true }
    }
  }

  /// Whether all writers have closed it, and everything is read.
  var isAtEnd: Bool { end.withLock { $0 } }

  var bytes: [UInt8] { collected.withLock { $0 } }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The complete lines, without the carriage returns of a terminal.
  var lines: [String] {
    lines(from: 0).lines.map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
    }
  }

  /// The complete lines after `offset`, as bytes, and the offset of the next one.
  func lines(from offset: Int) -> (lines: [[UInt8]], next: Int) {
    let rest = collected.withLock { $0[offset...] }
    guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return ([], offset) }
    let lines = rest[..<end].split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return (lines.map(Array.init), end + 1)
  }
}
