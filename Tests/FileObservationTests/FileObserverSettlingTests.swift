import Dispatch
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// What a program may rely on after a flush and after a stop.
struct FileObserverSettlingTests {
  private let directory: TemporaryDirectory
  private let observer: FileObserver
  private let log = Log<String>()

  init() throws {
    directory = try TemporaryDirectory()
    observer = try FileObserver(
      paths: [directory.path], options: ObserverOptions(quietPeriod: .fixed(.seconds(600))))
  }

  private func note(_ event: FileObserver.Event) {
    guard case .changed(let batch) = event else { return }
    for change in batch.changes { log.note(change.path.name ?? "") }
  }

  @Test func `after a stop that is awaited, the handler is not called any more`() async throws {
    #expect(await clockTicks())
    let queue = DispatchQueue(label: "handler")
    try observer.start(on: queue) {
      note($0)
    } onFailure: { _ in
    }
    try directory.write(to: "f")
    // Until then the event is on its way to the handler.
    queue.suspend()
    let isDelivered = Mutex(false)
    observer.flush { isDelivered.withLock { $0 = true } }
    #expect(await eventually { isDelivered.withLock { $0 } })
    observer.stop { log.note("stopped") }
    try directory.write(to: "g")
    queue.resume()
    #expect(await eventually { log.entries.contains("stopped") })
    await observer.stop()
    // A change may be reported twice.
    #expect(log.entries.last == "stopped" && Set(log.entries.dropLast()) == ["f"])
  }

  @Test func `a save is delivered at once by a flush, and the burst goes on`() async throws {
    let observer = try FileObserver(
      paths: [directory.path],
      options: ObserverOptions(quietPeriod: .fixed(.seconds(600)), maximumWait: .seconds(600)))
    try directory.write(to: "f")
    #expect(await clockTicks())
    let arrivals = Log<String>()
    observer.whenChangesArrive { [weak observer] isFirst, saved in
      arrivals.note("\(isFirst ? "first" : "later") \(saved.isEmpty ? "change" : "save")")
      if !saved.isEmpty { observer?.flush {} }
    }
    let batches = Log<ChangeBatch>()
    let isReady = Mutex(false)
    try observer.start(on: DispatchQueue(label: "handler")) { event in
      if case .changed(let batch) = event { batches.note(batch) }
      if case .ready = event { isReady.withLock { $0 = true } }
    } onFailure: { _ in
    }
    #expect(await eventually { isReady.withLock { $0 } })
    try directory.write(to: "new")
    #expect(await eventually { arrivals.entries.first == "first change" })
    #expect(batches.entries.isEmpty)
    try directory.write("other", to: "temporary")
    try directory.rename("temporary", to: "f")
    #expect(await eventually { !batches.entries.isEmpty })
    #expect(batches.entries.first?.isPartial == true)
    #expect(
      batches.entries.first?.changes.contains { $0.path == directory["f"] && $0.kind == .modified }
        == true)
    #expect(arrivals.entries.contains { $0.hasSuffix("save") })
    await observer.stop()
  }

  @Test func `an observer without a handler says when it has stopped, too`() async throws {
    await observer.stop()
    await observer.stop()
    #expect(throws: ObserverError.alreadyStopped) { try observer.start() }
  }

  @Test func `after a flush that is awaited, the reader of a stream has dealt with all changes`()
    async throws
  {
    #expect(await clockTicks())
    let batches = observer.batches
    try observer.start {
      note($0)
    } onFailure: { _ in
    }
    let read = Log<String>()
    let reader = Task {
      for try await batch in batches {
        for _ in 0..<50 { await Task.yield() }
        for change in batch.changes { read.note(change.path.name ?? "") }
      }
    }
    for number in 1...20 {
      try directory.write(to: "\(number)")
      await observer.flush()
      #expect(log.entries.contains("\(number)"))
      // Before its first element, the task may not have begun to read.
      if number > 1 { #expect(read.entries.contains("\(number)")) }
      if number == 1 { #expect(await eventually { read.entries.contains("1") }) }
    }
    await observer.stop()
    try await reader.value
  }

  @Test func `a task that reads a stream is not waited for when it flushes`() async throws {
    #expect(await clockTicks())
    let batches = observer.batches
    try observer.start()
    let (directory, observer) = (directory, observer)
    let isDone = Mutex(false)
    let reader = Task {
      var iterator = batches.makeAsyncIterator()
      try directory.write(to: "1")
      observer.flush {}
      #expect(try await iterator.next() != nil)
      try directory.write(to: "2")
      await observer.flush()
      isDone.withLock { $0 = true }
      #expect(try await iterator.next()?.changes.contains { $0.path == directory["2"] } == true)
    }
    #expect(await eventually { isDone.withLock { $0 } })
    // Ends the task, also if it waits for itself.
    await observer.stop()
    try await reader.value
  }

  @Test func `a flush within a handler or a completion handler completes`() async throws {
    #expect(await clockTicks())
    let flushed = Log<String>()
    let observer = observer
    try observer.start(on: DispatchQueue(label: "handler")) { event in
      guard case .changed = event else { return }
      let done = DispatchSemaphore(value: 0)
      observer.flush {
        flushed.note("in handler")
        // On the observer's queue.
        observer.flush { flushed.note("in completion handler") }
        done.signal()
      }
      // Also one that waits for it.
      flushed.note(done.wait(timeout: .now() + 10) == .success ? "returned" : "waited")
    } onFailure: { _ in
    }
    try directory.write(to: "f")
    observer.flush {}
    #expect(await eventually { flushed.entries.count == 3 })
    #expect(Set(flushed.entries) == ["in handler", "in completion handler", "returned"])
    await observer.stop()
  }

  @Test func `while no task reads, batches are merged`() async throws {
    #expect(await clockTicks())
    let batches = observer.batches
    try observer.start()
    try directory.write(to: "gone")
    await observer.flush()
    try directory.write(to: "kept")
    await observer.flush()
    try directory.remove("gone")
    try directory.write("more", to: "kept")
    await observer.flush()
    await observer.stop()
    var read: [ChangeBatch] = []
    for try await batch in batches { read.append(batch) }
    #expect(read.map { $0.changes.map(\.path) } == [[directory["kept"]]])
    #expect(read.first?.changes.first?.kind == .created)
    #expect((read.first?.number ?? 0) >= 3)
  }
}
