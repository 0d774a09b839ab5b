import Dispatch
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// The start, failure and end of an observer, and their effects on streams and waiting threads.
struct FileObserverLifetimeTests {
  private let directory: TemporaryDirectory
  private let other: TemporaryDirectory
  private let recorder = EventRecorder()
  private let failure = ObserverError.observationFailed(SystemError(call: "read", code: EIO))

  init() throws {
    directory = try TemporaryDirectory()
    other = try TemporaryDirectory()
  }

  /// An observer with a long quiet period, on a backend that the test controls.
  private func start(
    recorder: EventRecorder = EventRecorder()
  ) throws -> (observer: FileObserver, backend: FakeBackend) {
    let observer = try FileObserver(
      paths: [directory.path], options: ObserverOptions(quietPeriod: .fixed(.seconds(600))))
    let made = Mutex<FakeBackend?>(nil)
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, _ in
        let backend = FakeBackend(configuration)
        made.withLock { $0 = backend }
        return backend
      }, recorder.handler, onFailure: recorder.failureHandler)
    return (observer, try #require(made.withLock { $0 }))
  }

  @Test func `a second start throws`() throws {
    let observer = try FileObserver(paths: [directory.path])
    try observer.start { _ in
    } onFailure: { _ in
    }
    #expect(throws: ObserverError.alreadyStarted) {
      try observer.start { _ in
      } onFailure: { _ in
      }
    }
    #expect(throws: ObserverError.alreadyStarted) { try observer.start() }
    observer.stop()
  }

  @Test func `a start after a wait for changes throws`() async throws {
    // A directory made in the clock tick of the start may be reported.
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    #expect(try observer.waitForChange(timeout: .zero) == .timedOut)
    #expect(throws: ObserverError.alreadyStarted) {
      try observer.start { _ in
      } onFailure: { _ in
      }
    }
    await observer.stop()
  }

  @Test func `a start after a stop throws`() throws {
    let observer = try FileObserver(paths: [directory.path])
    observer.stop()
    #expect(throws: ObserverError.alreadyStopped) {
      try observer.start { _ in
      } onFailure: { _ in
      }
    }
  }

  @Test func `a path added during the start is watched`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let added = other.path
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, polling in
        _ = Result { () throws(ObserverError) in try observer.add(WatchedPath(added)) }
        return CombinedBackend(configuration, polling: polling)
      }, recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    try other.write(to: "f")
    #expect(await recorder.sees(.created, other["f"]))
    await observer.stop()
  }

  @Test func `changes are delivered though no descriptor is left after the start`() async throws {
    let alarms = LimitedAlarms()
    let observer = try FileObserver(
      watching: [WatchedPath(directory.path)],
      options: ObserverOptions(quietPeriod: .fixed(.milliseconds(1))), makeAlarm: alarms.make(on:_:)
    )
    let made = Mutex<FakeBackend?>(nil)
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, _ in
        let backend = FakeBackend(configuration)
        made.withLock { $0 = backend }
        return backend
      }, recorder.handler, onFailure: recorder.failureHandler)
    alarms.exhaust()
    let file = directory["f"]
    made.withLock { $0 }?.report(
      .events([RawEvent(path: file, kind: .modified(isOpen: false), type: .file)], overflow: false))
    #expect(await recorder.sees(file))
    await observer.stop()
  }

  @Test func `a flush during the start waits for the backend`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let made = Mutex<FakeBackend?>(nil)
    let flushed = Log<Int>()
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, _ in
        observer.flush { flushed.note(made.withLock { $0 }?.flushes.withLock { $0 } ?? 0) }
        let backend = FakeBackend(configuration)
        made.withLock { $0 = backend }
        return backend
      }, recorder.handler, onFailure: recorder.failureHandler)
    #expect(await eventually { flushed.entries == [1] })
    await observer.stop()
  }

  @Test func `a flush during a start that fails completes`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let flushed = Log<Int>()
    #expect(throws: ObserverError.self) {
      try observer.start(
        countingFrom: .now(),
        makeBackend: { configuration, polling in
          observer.flush { flushed.note(1) }
          return FakeBackend(configuration, polling, failure: .alreadyStopped)
        }, recorder.handler, onFailure: recorder.failureHandler)
    }
    #expect(await eventually { flushed.entries == [1] })
  }

  @Test func `an observer without paths is ready, and watches added ones`() async throws {
    let observer = try FileObserver(paths: [])
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    try observer.add(WatchedPath(directory.path))
    try directory.write(to: "f")
    #expect(await recorder.sees(.created, directory["f"]))
    #expect(observer.statistics.watches == 1 && observer.statistics.polledDirectories == 0)
    await observer.stop()
  }

  @Test func `a stream starts the observer when it is iterated`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    let first = Task {
      for try await batch in observer.batches { return Optional(batch) }
      return nil
    }
    #expect(await eventually { observer.statistics.watches == 1 })
    try directory.write(to: "f")
    #expect(try await first.value?.changes.map(\.path) == [directory["f"]])
    await observer.stop()
  }

  @Test func `events are readiness, changes, and then the end`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    var paths: [Path] = []
    for try await event in observer.events {
      switch event {
      case .ready: try directory.link("f", to: "nowhere")
      case .changed(let batch):
        paths += batch.changes.map(\.path)
        await observer.stop()
      case .warning(let warning): Issue.record("\(warning)")
      }
    }
    #expect(paths == [directory["f"]])
  }

  @Test func `a stream of batches passes warnings on in order`() async throws {
    // The directory itself is older than the start then.
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    let log = Log<String>()
    let batches = observer.batches { log.note($0.message) }
    try observer.start()
    observer.receive(.warning(.descriptorLimitReached(watched: 1, unwatched: 2)))
    try directory.write(to: "f")
    for try await batch in batches {
      log.note("\(batch.changes.count)")
      break
    }
    #expect(log.entries.map { $0.prefix(15) } == ["open file limit", "1"])
    await observer.stop()
  }

  @Test func `a stream of a cancelled task ends`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let task = Task {
      for try await _ in observer.batches {}
    }
    #expect(await eventually { observer.statistics.watches == 1 })
    task.cancel()
    try await task.value
    await observer.stop()
  }

  @Test func `a stream that two tasks share goes on when one of them is cancelled`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    let batches = observer.batches
    let cancelled = Task {
      for try await _ in batches {}
    }
    let other = Task {
      for try await batch in batches { return Optional(batch) }
      return nil
    }
    #expect(await eventually { observer.statistics.watches == 1 })
    cancelled.cancel()
    try await cancelled.value
    try directory.link("f", to: "nowhere")
    #expect(try await other.value?.changes.map(\.path) == [directory["f"]])
    await observer.stop()
  }

  @Test func `a task that was cancelled is not waited for though its stream is kept`() async throws
  {
    let observer = try FileObserver(paths: [directory.path])
    let batches = observer.batches
    let task = Task {
      for try await _ in batches {}
    }
    #expect(await eventually { observer.statistics.watches == 1 })
    task.cancel()
    try await task.value
    await observer.flush()
    await observer.stop()
    withExtendedLifetime(batches) {}
  }

  @Test func `a stream keeps its observer alive`() async throws {
    var observer: FileObserver? = try FileObserver(paths: [directory.path])
    weak let held = observer
    try observer?.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    var stream = observer?.batches
    observer = nil
    #expect(held != nil)
    try directory.write(to: "f")
    #expect(await recorder.sees(directory["f"]))
    stream = nil
    #expect(await eventually { held == nil })
    _ = stream
  }

  @Test func `streams and waiting threads throw the error of a failure`() async throws {
    let (observer, backend) = try start(recorder: recorder)
    let streams = [observer.batches, observer.batches]
    #expect(try observer.waitForChange(timeout: .zero) == .timedOut)
    backend.report(.failed(failure))
    for stream in streams {
      let error = await #expect(throws: ObserverError.self) { for try await _ in stream {} }
      #expect(error == failure)
    }
    #expect(throws: failure) { try observer.waitForChange() }
    #expect(throws: failure) { try observer.waitForChange() }
    let late = await #expect(throws: ObserverError.self) {
      for try await _ in observer.batches {}
    }
    #expect(late == failure)
    // The handler is one more subscriber, and may be called after the others.
    #expect(await eventually { recorder.failures == [failure] && backend.isStopped })
    await observer.stop()
  }

  @Test func `changes before a failure are reported before it`() async throws {
    let (observer, backend) = try start(recorder: recorder)
    let path = directory["f"]
    backend.report(
      .events([RawEvent(path: path, kind: .created, type: .file)], overflow: false))
    backend.report(.failed(failure))
    #expect(await eventually { recorder.failures == [failure] })
    #expect(recorder.changes.map(\.path) == [path])
    await observer.stop()
  }

  @Test func `an error at the start ends streams and waiting threads`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let stream = observer.batches
    let failure = failure
    #expect(throws: failure) {
      try observer.start(
        countingFrom: .now(), makeBackend: { FakeBackend($0, $1, failure: failure) },
        recorder.handler, onFailure: recorder.failureHandler)
    }
    let error = await #expect(throws: ObserverError.self) { for try await _ in stream {} }
    #expect(error == failure)
    #expect(throws: failure) { try observer.waitForChange() }
    #expect(recorder.events.isEmpty)
  }

  @Test func `extreme durations do not trap`() async throws {
    #expect(await clockTicks())
    let options = ObserverOptions(
      quietPeriod: .fixed(.seconds(Int64.max)), maximumWait: .seconds(Int64.min),
      polling: Polling(.always, interval: .seconds(Int64.min) ... .seconds(Int64.max)),
      skipsUnchanged: true,
      contentLimits: ContentLimits(largestFile: .min, mostFiles: .min))
    let observer = try FileObserver(paths: [directory.path], options: options)
    #expect(try observer.waitForChange(timeout: .seconds(Int64.min)) == .timedOut)
    try directory.write(to: "f")
    #expect(try observer.waitForChange(timeout: .seconds(Int64.max)) != .timedOut)
    await observer.stop()
  }

  @Test func `threads may start, change and stop an observer at the same time`() throws {
    for _ in 0..<50 {
      let observer = try FileObserver(paths: [directory.path])
      let path = other.path
      let starts = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        switch number % 4 {
        case 0:
          let result = Result { () throws(ObserverError) in
            try observer.start { _ in
            } onFailure: { _ in
            }
          }
          if case .success = result { starts.withLock { $0 += 1 } }
        case 1: _ = Result { () throws(ObserverError) in try observer.add(WatchedPath(path)) }
        case 2: observer.remove(path)
        default: if number == 7 { observer.stop() } else { observer.flush {} }
        }
      }
      #expect(starts.withLock { $0 } <= 1)
    }
  }
}

/// A backend that a test controls.
private final class FakeBackend: Backend {
  private let configuration: BackendConfiguration
  private let failure: ObserverError?
  private let stopped = Mutex(false)
  let flushes = Mutex(0)

  init(
    _ configuration: BackendConfiguration, _ polling: Polling = Polling(),
    failure: ObserverError? = nil
  ) {
    self.configuration = configuration
    self.failure = failure
  }

  var isStopped: Bool { stopped.withLock { $0 } }

  func report(_ report: BackendReport) {
    configuration.queue.async { [configuration] in configuration.report(report) }
  }

  func start() throws(ObserverError) {
    if let failure { throw failure }
  }

  func add(_ root: BackendConfiguration.Root, excluding: Set<Path>) {}

  func remove(_ root: Path) {}

  func flush(then done: @escaping @Sendable () -> Void) {
    flushes.withLock { $0 += 1 }
    configuration.queue.async { done() }
  }

  var statistics: FileObserver.Statistics { FileObserver.Statistics() }

  func stop() {
    stopped.withLock { $0 = true }
  }
}
