import Dispatch
import PathFiltering
import Synchronization
import TestSupport
import Testing

@testable import FileObservation
@testable import SystemCalls

struct CombinedBackendTests {
  private let local: TemporaryDirectory
  private let remote: TemporaryDirectory
  private let recorder = EventRecorder()

  init() throws {
    local = try TemporaryDirectory()
    remote = try TemporaryDirectory()
  }

  private func makeObserver(
    _ paths: [Path], native: @escaping CombinedBackend.NativeMaker = makeNativeBackend,
    polledDisk: @escaping @Sendable () -> Disk = { Disk() }
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
          fileSystemKind: { $0.isWithin(remote) ? "nfs" : nil },
          makePolledDisk: polledDisk)
      }, recorder.handler, onFailure: recorder.failureHandler)
    return observer
  }

  @Test func `a root on a file system without events is polled, with one warning`()
    async throws
  {
    let observer = try makeObserver([remote.path])
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "polling")
    #expect(recorder.warnings.map(\.code) == [.eventsUnavailable])
    let text = try #require(recorder.warnings.first).description
    #expect(text.contains("nfs") && text.contains("every 20 ms to 50 ms"))
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, remote["f"]))
    #expect(observer.statistics.polledDirectories == 1 && observer.statistics.watches == 0)
    await observer.stop()
  }

  @Test func `what the kernel cannot watch is polled at the interval of the options`() async throws
  {
    let intervals = Log<ClosedRange<Duration>>()
    let observer = try makeObserver(
      [local.path],
      native: { configuration throws(ObserverError) in
        intervals.note(configuration.pollInterval)
        return try makeNativeBackend(configuration)
      })
    #expect(intervals.entries == [.milliseconds(20) ... .milliseconds(50)])
    await observer.stop()
  }

  /// The command line reads a project file again on the queue of its tasks.
  @Test func `an observer may be started and changed from its own queue`()
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
            fileSystemKind: { $0.isWithin(remote) ? "nfs" : nil })
        }, recorder.handler, onFailure: recorder.failureHandler)
      return Result { () throws(ObserverError) in try observer.add(WatchedPath(remote)) }
    }
    try added.get()
    #expect(await eventually { recorder.warnings.map(\.code) == [.eventsUnavailable] })
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "inotify")
    await observer.stop()
  }

  @Test func `other roots are watched, and the backend is ready when all of them are`() async throws
  {
    try local.makeDirectories("a")
    let observer = try makeObserver([local.path, remote.path])
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "inotify+polling")
    #expect(recorder.events.count { if case .ready = $0 { true } else { false } } == 1)
    try local.write(to: "a/f")
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, local["a/f"]))
    #expect(await recorder.sees(.created, remote["f"]))
    await observer.stop()
  }

  @Test func `without an inotify instance everything is polled`() async throws {
    let observer = try makeObserver([local.path]) { _ throws(ObserverError) in
      throw .instanceLimitReached(SystemError(call: "inotify_init1", code: EMFILE))
    }
    #expect(await recorder.isReady())
    #expect(recorder.readiness?.backend == "polling")
    #expect(recorder.warnings.map(\.code) == [.instanceLimitReached])
    try local.write(to: "f")
    #expect(await recorder.sees(.created, local["f"]))
    await observer.stop()
  }

  @Test func `an added root is observed by the backend that fits its file system`() async throws {
    let observer = try makeObserver([local.path])
    #expect(await recorder.isReady())
    try observer.add(WatchedPath(remote.path))
    try remote.write(to: "f")
    #expect(await recorder.sees(.created, remote["f"]))
    #expect(await eventually { observer.statistics.polledDirectories == 1 })
    observer.remove(remote.path)
    #expect(await eventually { observer.statistics.polledDirectories == 0 })
    await observer.stop()
  }

  /// A backend of `local` that polls `remote` in it, and the paths that it reports.
  private func startBackend(
    mountPoints: Log<[Path]> = Log(), fileSystemKind: @escaping @Sendable (Path) -> Void = { _ in }
  ) throws -> (backend: CombinedBackend, reported: Log<Path>) {
    let (remote, reported) = (remote.path, Log<Path>())
    let present = { @Sendable in mountPoints.entries.last ?? [] }
    let configuration = BackendConfiguration(
      roots: [.init(path: local.path, coverage: .recursive)], filter: PathFilter(), start: .now(),
      queue: DispatchQueue(label: "watchrun.tests.combined")
    ) { report in
      guard case .events(let events, _) = report else { return }
      for event in events { reported.note(event.path) }
    }
    let backend = CombinedBackend(
      configuration, polling: Polling(interval: .milliseconds(1) ... .milliseconds(5)),
      fileSystemKind: { path in
        fileSystemKind(path)
        let isRemote = path.isWithin(remote) || present().contains { path.isWithin($0) }
        return isRemote ? "nfs" : nil
      }, mountPoints: present)
    try backend.start()
    return (backend, reported)
  }

  @Test func `roots that are added concurrently share one poller`() async throws {
    try remote.makeDirectories("r0")
    try remote.makeDirectories("r1")
    for _ in 0..<50 {
      let (arrived, remote) = (Log<Int>(), remote)
      let (backend, _) = try startBackend { path in
        if !path.isWithin(remote.path) { return }
        // Both threads continue at the same time, if there are two.
        arrived.note(1)
        for _ in 0..<10_000 where arrived.entries.count < 2 {}
      }
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        backend.add(.init(path: remote["r\(number)"], coverage: .recursive))
      }
      #expect(await eventually { backend.statistics.polledDirectories == 2 })
      backend.stop()
    }
  }

  @Test func `a mount without events is polled as long as its root is watched`() async throws {
    try local.makeDirectories("tree/mount")
    let mount = local["tree/mount"]
    let mountPoints = Log<[Path]>()
    mountPoints.note([mount])
    let (backend, reported) = try startBackend(mountPoints: mountPoints)
    #expect(await eventually { backend.statistics.polledDirectories == 1 })
    backend.remove(local.path)
    #expect(await eventually { backend.statistics.polledDirectories == 0 })
    backend.add(.init(path: local["tree"], coverage: .recursive))
    #expect(await eventually { backend.statistics.polledDirectories == 1 })
    try local.write(to: "tree/mount/f")
    #expect(await eventually { reported.entries.contains(local["tree/mount/f"]) })
    backend.stop()
  }

  @Test func `what was mounted is watched when its root is added again`() async throws {
    try local.makeDirectories("mount")
    let mountPoints = Log<[Path]>()
    mountPoints.note([local["mount"]])
    let (backend, reported) = try startBackend(mountPoints: mountPoints)
    #expect(await eventually { backend.statistics.polledDirectories == 1 })
    backend.remove(local.path)
    #expect(await eventually { backend.statistics.polledDirectories == 0 })
    mountPoints.note([])
    backend.add(.init(path: local.path, coverage: .recursive))
    #expect(await eventually { backend.statistics.watches == 2 })
    try local.write(to: "mount/f")
    #expect(await eventually { reported.entries.contains(local["mount/f"]) })
    backend.stop()
  }

  @Test func `a mount without events in an added root is polled and not watched`() async throws {
    let other = try TemporaryDirectory()
    try other.makeDirectories("mount")
    let mountPoints = Log<[Path]>()
    mountPoints.note([other["mount"]])
    let (backend, reported) = try startBackend(mountPoints: mountPoints)
    #expect(await eventually { backend.statistics.watches == 1 })
    backend.add(.init(path: other.path, coverage: .recursive))
    try other.write(to: "mount/f")
    #expect(await eventually { reported.entries.contains(other["mount/f"]) })
    #expect(await eventually { backend.statistics.watches == 2 })
    #expect(backend.statistics.polledDirectories == 1)
    backend.stop()
  }

  @Test func `a root added after polled ones is watched by the kernel where it can be`()
    async throws
  {
    let observer = try makeObserver([remote.path])
    #expect(await recorder.isReady())
    try observer.add(WatchedPath(local.path))
    try local.write(to: "f")
    #expect(await recorder.sees(.created, local["f"]))
    #expect(observer.statistics.watches == 1 && observer.statistics.polledDirectories == 1)
    await observer.stop()
  }

  @Test func `changes in a watched root do not wait for a file system that hangs`() async throws {
    let disk = HangingDisk()
    let observer = try makeObserver([local.path, remote.path], polledDisk: { disk })
    #expect(await recorder.isReady())
    disk.hang()
    #expect(await eventually { disk.waiting > 0 })
    try remote.write(to: "late")
    try local.write(to: "f")
    #expect(await recorder.sees(.created, local["f"]))
    #expect(disk.waiting > 0)
    disk.answer()
    #expect(await recorder.sees(.created, remote["late"]))
    await observer.stop()
  }

  @Test func `nothing is polled for a root that is added after the stop`() async throws {
    let (backend, _) = try startBackend()
    backend.stop()
    backend.add(.init(path: remote.path, coverage: .recursive))
    let answers = Log<Int>()
    backend.flush { answers.note(1) }
    #expect(await eventually { answers.entries == [1] })
    #expect(backend.statistics.polledDirectories == 0)
  }
}
