import Dispatch
import FileObservation
import SystemCalls
import TestSupport
import Testing

/// What can be asked of an observer while it is at work.
struct FileObserverControlTests {
  private let folder: TemporaryDirectory
  private let other: TemporaryDirectory
  private let recorder = EventRecorder()

  init() throws {
    folder = try TemporaryDirectory()
    other = try TemporaryDirectory()
    try folder.makeDirectories("sub/deep")
  }

  private static let backends = [
    Polling(), Polling(.always, interval: .milliseconds(20) ... .milliseconds(50)),
  ]

  private func start(
    _ paths: [WatchedPath], _ polling: Polling = Polling()
  ) async throws -> FileObserver {
    #expect(await clockTicks())
    let observer = try FileObserver(watching: paths, options: ObserverOptions(polling: polling))
    try observer.start(recorder.handler)
    #expect(await recorder.isReady())
    return observer
  }

  /// Makes a file in a watched folder, and waits until it is told of; what came before it has been
  /// told, too.
  private func isUpToDate(_ mark: String) async throws -> Bool {
    try folder.write(to: mark)
    return await recorder.sees(folder[mark])
  }

  @Test(arguments: backends)
  func `a path that is added is watched from then on`(polling: Polling) async throws {
    try other.makeDirectories("a/b")
    try other.write(to: "a/b/old")
    let observer = try await start([WatchedPath(folder.path)], polling)
    #expect(await clockTicks())
    try observer.add(WatchedPath(other.path))
    try other.write(to: "a/b/f")
    #expect(await recorder.sees(other["a/b/f"]))
    #expect(!recorder.changes.contains { $0.path == other["a/b/old"] })
    try other.append("x", to: "a/b/old")
    #expect(await recorder.sees(.modified, other["a/b/old"]))
    observer.stop()
  }

  @Test(arguments: backends)
  func `a path that is removed is watched no more`(polling: Polling) async throws {
    let observer = try await start([WatchedPath(folder.path), WatchedPath(other.path)], polling)
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
    observer.stop()
  }

  @Test(arguments: backends)
  func `what another root covers stays watched`(polling: Polling) async throws {
    let observer = try await start(
      [WatchedPath(folder.path), WatchedPath(folder["sub"]), WatchedPath(folder["sub/deep"])],
      polling)
    observer.remove(folder["sub"])
    try folder.write(to: "sub/f")
    #expect(await recorder.sees(.created, folder["sub/f"]))
    observer.remove(folder.path)
    try folder.write(to: "sub/deep/f")
    #expect(await recorder.sees(.created, folder["sub/deep/f"]))
    observer.stop()
  }

  @Test func `of a path that is not there, adding tells`() async throws {
    let observer = try await start([WatchedPath(folder.path)])
    #expect(throws: ObserverError.self) { try observer.add(WatchedPath(other["missing"])) }
    observer.stop()
  }

  @Test(arguments: backends)
  func `a path that need not be there yet is waited for`(polling: Polling) async throws {
    let observer = try await start(
      [WatchedPath(folder.path), WatchedPath(other["a/b"], mayBeMissing: true)], polling)
    #expect(recorder.changes.isEmpty)
    try other.makeDirectories("a/b")
    #expect(await recorder.sees(.created, other["a/b"]))
    try other.write(to: "a/b/f")
    #expect(await recorder.sees(.created, other["a/b/f"]))
    observer.stop()
  }

  @Test(arguments: backends)
  func `a file that need not be there yet is waited for`(polling: Polling) async throws {
    let observer = try await start([WatchedPath(other["f"], mayBeMissing: true)], polling)
    try other.write(to: "beside")
    try other.write(to: "f")
    #expect(await recorder.sees(.created, other["f"]))
    try other.write(to: "t")
    try other.rename("t", to: "f")
    #expect(await recorder.sees(.modified, other["f"]))
    #expect(Set(recorder.changes.map(\.path)) == [other["f"]])
    observer.stop()
  }

  @Test func `what changes during a pause is one batch after it`() async throws {
    let observer = try await start([WatchedPath(folder.path)])
    let beside = EventRecorder()
    let unpaused = try FileObserver(paths: [folder.path])
    try unpaused.start(beside.handler)
    #expect(await beside.isReady())
    observer.pause()
    try folder.write(to: "one")
    #expect(await clockTicks())
    try folder.write(to: "two")
    #expect(await eventually { beside.changes.contains { $0.path == folder["two"] } })
    #expect(recorder.batches.isEmpty)
    observer.resume()
    #expect(await eventually { recorder.batches.count == 1 })
    #expect(Set(recorder.changes.map(\.path)) == [folder["one"], folder["two"]])
    observer.resume()
    #expect(try await isUpToDate("mark"))
    #expect(observer.statistics.batches == 2)
    observer.stop()
    unpaused.stop()
  }

  @Test(arguments: backends)
  func `a flush hands over every earlier change without waiting for the quiet period`(
    polling: Polling
  ) async throws {
    let observer = try FileObserver(
      paths: [folder.path],
      options: ObserverOptions(
        quietPeriod: .fixed(.seconds(600)), maximumWait: .seconds(900), polling: polling))
    try observer.start(recorder.handler)
    for number in 1...5 {
      try folder.write(to: "file\(number)")
      let flushed = Log<Int>()
      observer.flush { [recorder] in flushed.note(recorder.batches.count) }
      #expect(await eventually { flushed.entries.count == 1 })
      #expect(await recorder.sees(folder["file\(number)"]))
    }
    observer.stop()
  }

  @Test(arguments: backends)
  func `a flush hands over the entries of directories that were replaced`(
    polling: Polling
  ) async throws {
    let names = (1...10).map { "d\($0)" }
    for name in names {
      try folder.makeDirectories(name)
      try folder.write(to: name + "/f")
    }
    #expect(await clockTicks())
    let queue = DispatchQueue(label: "events")
    let observer = try FileObserver(
      paths: [folder.path],
      options: ObserverOptions(
        quietPeriod: .fixed(.seconds(600)), maximumWait: .seconds(900), polling: polling))
    try observer.start(on: queue, recorder.handler)
    #expect(await recorder.isReady())
    for name in names {
      try folder.remove(name)
      try folder.makeDirectories(name)
      try folder.write(to: name + "/f")
    }
    let reported = Log<Set<Path>>()
    observer.flush { [recorder] in
      queue.async { reported.note(Set(recorder.changes.map(\.path))) }
    }
    #expect(await eventually { !reported.entries.isEmpty })
    let missing = names.filter { name in
      !reported.entries.contains { $0.contains(folder[name + "/f"]) }
    }
    #expect(missing.isEmpty)
    observer.stop()
  }

  @Test func `a flush of an observer that does not run is answered`() async throws {
    let observer = try FileObserver(paths: [folder.path])
    let answers = Log<Int>()
    observer.flush { answers.note(1) }
    #expect(await eventually { answers.entries == [1] })
    observer.stop()
    observer.flush { answers.note(2) }
    #expect(await eventually { answers.entries == [1, 2] })
  }

  @Test func `a script waits for one change after the other`() async throws {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: [folder.path])
    #expect(try observer.waitForChange(timeout: .milliseconds(200)) == nil)
    // A link comes at once; a file comes, and is written to.
    try folder.link("one", to: "elsewhere")
    let first = try #require(try observer.waitForChange(timeout: .seconds(20)))
    #expect(first.changes.map(\.path) == [folder["one"]])
    try folder.link("two", to: "elsewhere")
    let second = try #require(try observer.waitForChange(timeout: .seconds(20)))
    #expect(second.changes.map(\.path) == [folder["two"]])
    observer.stop()
    #expect(try observer.waitForChange() == nil)
    #expect(try observer.waitForChange() == nil)
  }

  @Test func `the numbers say what is watched`() async throws {
    try folder.makeDirectories("node_modules/a")
    let observer = try await start([WatchedPath(folder.path)])
    #expect(observer.statistics.watches == 3)
    #expect(observer.statistics.pruned == 1)
    #expect(observer.statistics.overflows == 0 && observer.statistics.rescans == 0)
    observer.stop()
  }
}
