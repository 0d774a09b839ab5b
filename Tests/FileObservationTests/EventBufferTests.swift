import Synchronization
import Testing

@testable import FileObservation

struct EventBufferTests {
  private static func batch(_ number: Int, _ names: Range<Int>) -> FileObserver.Event {
    .changed(
      ChangeBatch(
        number: number,
        changes: names.map { .init(path: Path("/\(number)/\($0)"), kind: .created, type: .file) }))
  }

  private static func read(_ buffer: EventBuffer) -> [ChangeBatch] {
    let batches = Mutex<[ChangeBatch]>([])
    buffer.close(nil)
    var isOver = false
    while !isOver {
      let count = batches.withLock(\.count)
      buffer.wait(by: nil) { result in
        if case .success(.changed(let batch)) = result { batches.withLock { $0.append(batch) } }
      }
      isOver = batches.withLock(\.count) == count
    }
    return batches.withLock { $0 }
  }

  @Test func `batches that nobody reads become one`() {
    let buffer = EventBuffer()
    for number in 1...100 { buffer.put(Self.batch(number, 0..<3)) }
    let batches = Self.read(buffer)
    #expect(batches.count == 1 && batches[0].changes.count == 300)
  }

  @Test func `a task that is cancelled reads nothing more, and nothing waits for it`() async throws
  {
    let buffer = EventBuffer()
    for number in 1...2 { buffer.put(Self.batch(number, 0..<2000)) }
    let isSettled = Mutex(false)
    let task = Task<Void, any Error> {
      let first = try await buffer.next()
      #expect(first != nil)
      buffer.settle(for: nil) { isSettled.withLock { $0 = true } }
      #expect(!isSettled.withLock { $0 })
      withUnsafeCurrentTask { $0?.cancel() }
      let second = try await buffer.next()
      #expect(second == nil)
    }
    try await task.value
    #expect(isSettled.withLock { $0 })
  }

  @Test func `a task that deals with an element is waited for while another waits`() {
    let buffer = EventBuffer()
    let isSettled = Mutex(false)
    buffer.wait(by: 1) { _ in }
    buffer.wait(by: 2) { _ in }
    buffer.put(Self.batch(1, 0..<1))
    buffer.settle(for: nil) { isSettled.withLock { $0 = true } }
    #expect(!isSettled.withLock { $0 })
    buffer.wait(by: 1) { _ in }
    #expect(isSettled.withLock { $0 })
  }

  @Test func `a task that asks does not wait for itself, whoever has read after it`() {
    let buffer = EventBuffer()
    let settled = Mutex<[Int]>([])
    buffer.put(Self.batch(1, 0..<8_000))
    buffer.put(Self.batch(2, 0..<1))
    buffer.wait(by: 1) { _ in }
    buffer.wait(by: 2) { _ in }
    buffer.settle(for: 1) { settled.withLock { $0.append(1) } }
    #expect(settled.withLock { $0 } == [])
    _ = buffer.leave(2)
    #expect(settled.withLock { $0 } == [1])
    buffer.settle(for: 1) { settled.withLock { $0.append(2) } }
    #expect(settled.withLock { $0 } == [1, 2])
  }

  @Test func `a large batch is not merged with each small one after it`() {
    let buffer = EventBuffer()
    buffer.put(Self.batch(1, 0..<8_000))
    for number in 2...31 { buffer.put(Self.batch(number, 0..<100)) }
    let batches = Self.read(buffer)
    #expect((2...5).contains(batches.count))
    #expect(batches[0].number == 1 && batches[0].changes.count == 8_000)
    #expect(batches.reduce(0) { $0 + $1.changes.count } == 11_000)
  }
}
