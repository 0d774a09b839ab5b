import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import FileObservation
@testable import SystemCalls

struct CombinedBackendTests {
  private let local: TemporaryFolder
  private let remote: TemporaryFolder
  private let recorder = EventRecorder()

  init() throws {
    local = try TemporaryFolder()
    remote = try TemporaryFolder()
  }

  private func makeObserver(
    _ paths: [Path], native: @escaping CombinedBackend.NativeMaker = makeNativeBackend
  ) throws -> FileObserver {
    let remote = remote.path
    let options = ObserverOptions(
      polling: Polling(interval: .milliseconds(20) ... .milliseconds(50)))
    let observer = try FileObserver(paths: paths, options: options)
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, polling in
        CombinedBackend(
          configuration, polling: polling, makeNative: native,
          fileSystemKind: { $0.isWithin(remote) ? FileSystemKind(name: "nfs") : nil })
      }, recorder.handler)
    return observer
  }

  @Test func `a root on a file system without events is polled, and that is said once`()
    async throws
  {
    let observer = try makeObserver([remote.path])
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "polling")
    #expect(recorder.warnings.map(\.code) == [.noEvents])
    let text = try #require(recorder.warnings.first).description
    #expect(text.contains("nfs") && text.contains("every 0.02 to 0.05 s"))
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, remote["f"]))
    #expect(observer.statistics.polledFolders == 1 && observer.statistics.watches == 0)
    observer.stop()
  }

  /// So is a project's file read again on the queue of its tasks.
  @Test func `who is awaited may start and change an observer, though there is something to say`()
    async throws
  {
    let remote = remote.path
    let queue = DispatchQueue(label: "watchrun.tests.awaited")
    let observer = try FileObserver(paths: [local.path])
    let recorder = recorder
    let added = try queue.sync {
      try observer.start(
        on: queue, awaitingHandler: true, countingFrom: .now(),
        makeBackend: { configuration, polling in
          CombinedBackend(
            configuration, polling: polling,
            fileSystemKind: { $0.isWithin(remote) ? FileSystemKind(name: "nfs") : nil })
        }, recorder.handler)
      return Result { () throws(ObserverError) in try observer.add(WatchedPath(remote)) }
    }
    try added.get()
    #expect(await eventually { recorder.warnings.map(\.code) == [.noEvents] })
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "inotify")
    observer.stop()
  }

  @Test func `others are watched beside it, and it is ready when all is`() async throws {
    try local.makeDirectories("a")
    let observer = try makeObserver([local.path, remote.path])
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "inotify+polling")
    #expect(recorder.events.count { if case .ready = $0 { true } else { false } } == 1)
    try local.write(to: "a/f")
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, local["a/f"]))
    #expect(await recorder.sees(.created, remote["f"]))
    observer.stop()
  }

  @Test func `without an instance all is polled`() async throws {
    let observer = try makeObserver([local.path]) { _ throws(ObserverError) in
      throw .instanceLimitReached(SystemError(call: "inotify_init1", code: EMFILE))
    }
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "polling")
    #expect(recorder.warnings.map(\.code) == [.instanceLimitReached])
    try local.write(to: "f")
    #expect(await recorder.sees(.created, local["f"]))
    observer.stop()
  }

  @Test func `what is added is seen to by the backend that fits it`() async throws {
    let observer = try makeObserver([local.path])
    #expect(await recorder.isReady())
    try observer.add(WatchedPath(remote.path))
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, remote["f"]))
    #expect(await eventually { observer.statistics.polledFolders == 1 })
    observer.remove(remote.path)
    #expect(await eventually { observer.statistics.polledFolders == 0 })
    observer.stop()
  }
}
