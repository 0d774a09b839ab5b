import Dispatch
import FileObservation
import SystemCalls
import TestSupport
import Testing

/// Changes of a running observer, and questions to it.
struct FileObserverControlTests {
  private let directory: TemporaryDirectory
  private let other: TemporaryDirectory
  private let recorder = EventRecorder()

  init() throws {
    directory = try TemporaryDirectory()
    other = try TemporaryDirectory()
    try directory.makeDirectories("sub/deep")
  }

  private static let backends = [
    Polling(), Polling(.always, interval: .milliseconds(20) ... .milliseconds(50)),
  ]

  private func start(
    _ paths: [WatchedPath], _ polling: Polling = Polling()
  ) async throws -> FileObserver {
    #expect(await clockTicks())
    let observer = try FileObserver(watching: paths, options: ObserverOptions(polling: polling))
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    return observer
  }

  /// Creates a file in a watched directory, and waits until it is reported. Earlier changes have
  /// been reported then.
  private func isUpToDate(_ mark: String) async throws -> Bool {
    try directory.write(to: mark)
    return await recorder.sees(directory[mark])
  }

  @Test(arguments: backends)
  func `an added path is watched from then on`(polling: Polling) async throws {
    try other.makeDirectories("a/b")
    try other.write(to: "a/b/old")
    let observer = try await start([WatchedPath(directory.path)], polling)
    #expect(await clockTicks())
    try observer.add(WatchedPath(other.path))
    try other.write(to: "a/b/f")
    #expect(await recorder.sees(other["a/b/f"]))
    #expect(!recorder.changes.contains { $0.path == other["a/b/old"] })
    try other.append("x", to: "a/b/old")
    #expect(await recorder.sees(.modified, other["a/b/old"]))
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a removed path is no longer watched`(polling: Polling) async throws {
    let observer = try await start([WatchedPath(directory.path), WatchedPath(other.path)], polling)
    let before = observer.statistics
    observer.remove(other.path)
    #expect(
      await eventually {
        let now = observer.statistics
        return now.watches + now.polledDirectories < before.watches + before.polledDirectories
      })
    try other.write(to: "f")
    #expect(try await isUpToDate("mark"))
    #expect(!recorder.changes.contains { $0.path.isWithin(other.path) })
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a path that another root covers stays watched`(polling: Polling) async throws {
    let observer = try await start(
      [
        WatchedPath(directory.path), WatchedPath(directory["sub"]),
        WatchedPath(directory["sub/deep"]),
      ],
      polling)
    observer.remove(directory["sub"])
    try directory.write(to: "sub/f")
    #expect(await recorder.sees(.created, directory["sub/f"]))
    observer.remove(directory.path)
    try directory.write(to: "sub/deep/f")
    #expect(await recorder.sees(.created, directory["sub/deep/f"]))
    await observer.stop()
  }

  @Test func `adding a missing path throws`() async throws {
    let observer = try await start([WatchedPath(directory.path)])
    #expect(throws: ObserverError.self) { try observer.add(WatchedPath(other["missing"])) }
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a directory that may be missing is reported when it is created`(polling: Polling)
    async throws
  {
    let observer = try await start(
      [WatchedPath(directory.path), WatchedPath(other["a/b"], mayBeMissing: true)], polling)
    #expect(recorder.changes.isEmpty)
    try other.makeDirectories("a/b")
    #expect(await recorder.sees(.created, other["a/b"]))
    try other.write(to: "a/b/f")
    #expect(await recorder.sees(.created, other["a/b/f"]))
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a file that may be missing is reported when it is created`(polling: Polling) async throws {
    let observer = try await start([WatchedPath(other["f"], mayBeMissing: true)], polling)
    try other.write(to: "beside")
    try other.write(to: "f")
    #expect(await recorder.sees(.created, other["f"]))
    try other.write(to: "t")
    try other.rename("t", to: "f")
    #expect(await recorder.sees(.modified, other["f"]))
    #expect(Set(recorder.changes.map(\.path)) == [other["f"]])
    await observer.stop()
  }

  @Test func `changes during a pause are one batch after it`() async throws {
    let observer = try await start([WatchedPath(directory.path)])
    observer.pause()
    try directory.write(to: "one")
    #expect(await clockTicks())
    try directory.write(to: "two")
    // Both have been noticed by then.
    await withCheckedContinuation { flushed in observer.flush { flushed.resume() } }
    #expect(recorder.batches.isEmpty)
    observer.resume()
    #expect(await eventually { recorder.batches.count == 1 })
    #expect(Set(recorder.changes.map(\.path)) == [directory["one"], directory["two"]])
    observer.resume()
    #expect(try await isUpToDate("mark"))
    #expect(observer.statistics.batches == 2)
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a flush delivers every earlier change without waiting for the quiet period`(
    polling: Polling
  ) async throws {
    let observer = try FileObserver(
      paths: [directory.path],
      options: ObserverOptions(
        quietPeriod: .fixed(.seconds(600)), maximumWait: .seconds(900), polling: polling))
    try observer.start(recorder.handler, onFailure: recorder.failureHandler)
    for number in 1...5 {
      try directory.write(to: "file\(number)")
      let flushed = Log<Int>()
      observer.flush { [recorder] in flushed.note(recorder.batches.count) }
      #expect(await eventually { flushed.entries.count == 1 })
      #expect(await recorder.sees(directory["file\(number)"]))
    }
    await observer.stop()
  }

  @Test(arguments: backends)
  func `a flush delivers the entries of replaced directories`(
    polling: Polling
  ) async throws {
    let names = (1...10).map { "d\($0)" }
    for name in names {
      try directory.makeDirectories(name)
      try directory.write(to: name + "/f")
    }
    #expect(await clockTicks())
    let queue = DispatchQueue(label: "events")
    let observer = try FileObserver(
      paths: [directory.path],
      options: ObserverOptions(
        quietPeriod: .fixed(.seconds(600)), maximumWait: .seconds(900), polling: polling))
    try observer.start(on: queue, recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    for name in names {
      try directory.remove(name)
      try directory.makeDirectories(name)
      try directory.write(to: name + "/f")
    }
    let reported = Log<Set<Path>>()
    observer.flush { [recorder] in
      queue.async { reported.note(Set(recorder.changes.map(\.path))) }
    }
    #expect(await eventually { !reported.entries.isEmpty })
    let missing = names.filter { name in
      !reported.entries.contains { $0.contains(directory[name + "/f"]) }
    }
    #expect(missing.isEmpty)
    await observer.stop()
  }

  @Test func `a flush of an observer that is not running completes`() async throws {
    let observer = try FileObserver(paths: [directory.path])
    let answers = Log<Int>()
    observer.flush { answers.note(1) }
    #expect(await eventually { answers.entries == [1] })
    await observer.stop()
    observer.flush { answers.note(2) }
    #expect(await eventually { answers.entries == [1, 2] })
  }

  @Test func `a script waits for one change after another`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    #expect(try observer.waitForChange(timeout: .milliseconds(200)) == .timedOut)
    // A link comes at once; a file comes, and is written to.
    try directory.link("one", to: "elsewhere")
    let first = try batch(observer.waitForChange(timeout: .seconds(20)))
    #expect(first.changes.map(\.path) == [directory["one"]])
    try directory.link("two", to: "elsewhere")
    let second = try batch(observer.waitForChange(timeout: .seconds(20)))
    #expect(second.changes.map(\.path) == [directory["two"]])
    await observer.stop()
    #expect(try observer.waitForChange() == nil)
    #expect(try observer.waitForChange(timeout: .seconds(20)) == .stopped)
  }

  @Test func `changes between two waits of a script are one batch`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [directory.path])
    #expect(try observer.waitForChange(timeout: .zero) == .timedOut)
    for name in ["one", "two"] {
      try directory.link(name, to: "elsewhere")
      await observer.flush()
    }
    let both = try batch(observer.waitForChange(timeout: .seconds(20)))
    #expect(both.changes.map(\.path) == [directory["one"], directory["two"]])
    await observer.stop()
  }

  private func batch(_ result: FileObserver.WaitResult) throws -> ChangeBatch {
    guard case .changed(let batch) = result else { throw Missing.batch }
    return batch
  }

  private enum Missing: Error {
    case batch
  }

  @Test func `the watched paths are absolute, and change with adding and removing`() throws {
    let observer = try FileObserver(paths: [directory.path])
    let added = WatchedPath(other["new"], isRecursive: false, mayBeMissing: true)
    try observer.add(added)
    try observer.add(added)
    #expect(observer.watchedPaths == [WatchedPath(directory.path), added])
    #expect(observer.remove(added.path))
    #expect(!observer.remove(added.path))
    #expect(observer.watchedPaths == [WatchedPath(directory.path)])
    observer.stop()
    #expect(observer.watchedPaths == [])
  }

  @Test func `a relative path is resolved against the current directory`() throws {
    let observer = try FileObserver(watching: ["."])
    let path = try #require(observer.watchedPaths.first?.path)
    #expect(path.isAbsolute)
    #expect(observer.remove("."))
  }

  @Test func `the statistics count watches and ignored directories`() async throws {
    try directory.makeDirectories("node_modules/a")
    let observer = try await start([WatchedPath(directory.path)])
    #expect(observer.statistics.watches == 3)
    #expect(observer.statistics.pruned == 1)
    #expect(observer.statistics.overflows == 0)
    await observer.stop()
  }
}
