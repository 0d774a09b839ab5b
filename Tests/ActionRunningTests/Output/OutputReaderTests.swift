import Dispatch
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct OutputReaderTests {
  /// Libdispatch crashes, or loses a source, when sources are hung up while others are made.
  @Test(.timeLimit(.minutes(5)))
  func `pipes that are hung up while others are opened are all read to their ends`() async throws {
    let count = Effort.count(2_000, quick: 400)
    let lines = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<8 {
        group.addTask { try await linesOfPipes(count, on: DispatchQueue(label: "pipes.\(index)")) }
      }
      return try await group.reduce(0, +)
    }
    #expect(lines == 8 * count)
  }

  @Test func `an unfinished line is delivered as far as it goes, and whole at its end`()
    async throws
  {
    let events = Log<LineSplitter.Piece>()
    let (reader, input) = try OutputReader.open(on: DispatchQueue(label: "unfinished")) {
      events.note($0)
    }
    for dots in [".", ".."] {
      try writeAll(Array(".".utf8), to: input.number)
      #expect(
        await eventually {
          events.entries.last == .init(bytes: Array(dots.utf8), isFinished: false)
        })
    }
    try writeAll(Array("\n".utf8), to: input.number)
    #expect(await eventually { events.entries.last == .init(bytes: Array("..".utf8)) })
    #expect(events.entries.count == 3)
    withExtendedLifetime(reader) {}
  }
}

/// Opens pipes one after the other, each as soon as the line from the former has been read.
private func linesOfPipes(_ count: Int, on queue: DispatchQueue) async throws -> Int {
  var lines = 0
  for _ in 0..<count {
    let line = try await withCheckedThrowingContinuation { continuation in
      do throws(SystemError) {
        let (_, input) = try OutputReader.open(on: queue) { line in
          if line.isFinished { continuation.resume(returning: line.bytes) }
        }
        DispatchQueue(label: "test.writer").async {
          try? writeAll(Array("line\n".utf8), to: input.number)
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    if line == Array("line".utf8) { lines += 1 }
  }
  return lines
}
