#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// The vnode backend, on a source that reports the events of kqueue.
struct VnodeBackendTests {
  private let directory: TemporaryDirectory
  private let recorder = EventRecorder()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func start(
    _ names: [String] = [""], capacity: Int = .max
  ) async throws -> FileObserver {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: names.map { directory[$0] })
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, _ in
        TreeBackend(
          configuration,
          source: VnodeHints(capacity: capacity, watchVnode: KqueueLikeSource().watch))
      }, recorder.handler, onFailure: recorder.failureHandler)
    #expect(await recorder.isReady())
    return observer
  }

  /// A watch follows the file on which it was opened, and not the path.
  @Test(arguments: ["", "f"])
  func `each of many atomic saves is reported`(root: String) async throws {
    try directory.write(to: "f")
    let observer = try await start([root])
    for round in 1...Effort.count(100, quick: 20) {
      recorder.clear()
      try directory.write("\(round)", to: "t")
      try directory.rename("t", to: "f")
      #expect(await recorder.sees(directory["f"]))
    }
    // A write in place after all of them is reported too.
    recorder.clear()
    try directory.append("x", to: "f")
    #expect(await recorder.sees(directory["f"]))
    await observer.stop()
  }

  @Test func `a file that is replaced before it is watched is reported`() async throws {
    let observer = try await start()
    for round in 1...Effort.count(20, quick: 5) {
      // The directory's watch reports the new file, whose own watch is not in force yet.
      try directory.write("new", to: "f\(round)")
      try directory.write("newer", to: "t")
      try directory.rename("t", to: "f\(round)")
      try directory.append("x", to: "f\(round)")
      #expect(await recorder.sees(directory["f\(round)"]))
      // It is reported as a modification, or with the rename.
      recorder.clear()
      try directory.append("y", to: "f\(round)")
      #expect(await recorder.sees(directory["f\(round)"]))
    }
    await observer.stop()
  }

  /// The number of descriptors is limited.
  @Test func `directories beyond the limit are polled, with one warning`() async throws {
    for directory in 1...4 {
      try self.directory.makeDirectories("d\(directory)")
      for file in 1...5 { try self.directory.write(to: "d\(directory)/f\(file)") }
    }
    let observer = try await start(capacity: 8)
    #expect(await eventually { recorder.warnings.map(\.code) == [.watchLimitReached] })
    #expect(recorder.warnings.first?.advice?.contains("ulimit -n") == true)
    #expect(observer.statistics.watches <= 8)
    for number in 1...4 {
      try directory.append("x", to: "d\(number)/f5")
      #expect(await recorder.sees(.modified, directory["d\(number)/f5"]))
    }
    #expect(recorder.warnings.count == 1)
    await observer.stop()
  }

  @Test func `watches are removed with their entries`() async throws {
    let observer = try await start()
    let before = observer.statistics.watches
    for _ in 1...5 {
      try directory.makeDirectories("a/b")
      try directory.write(to: "a/b/f")
      #expect(await eventually { observer.statistics.watches == before + 3 })
      try directory.remove("a")
      #expect(await eventually { observer.statistics.watches == before })
    }
    await observer.stop()
  }
}

#endif  // os(Linux)
