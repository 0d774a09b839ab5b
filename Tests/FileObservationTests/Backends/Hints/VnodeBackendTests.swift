#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// The vnode backend's logic, over a source that tells what kqueue would.
struct VnodeBackendTests {
  private let folder: TemporaryDirectory
  private let recorder = EventRecorder()

  init() throws {
    folder = try TemporaryDirectory()
  }

  private func start(
    _ names: [String] = [""], capacity: Int = .max
  ) async throws -> FileObserver {
    #expect(await clockTicks())
    let observer = try FileObserver(paths: names.map { folder[$0] })
    try observer.start(
      countingFrom: .now(),
      makeBackend: { configuration, _ in
        TreeBackend(configuration, source: VnodeHints(KqueueLikeSource(capacity: capacity)))
      }, recorder.handler)
    #expect(await recorder.isReady())
    return observer
  }

  /// A vnode watch follows the file that it was opened on, not the path.
  @Test(arguments: ["", "f"])
  func `each of a hundred atomic saves is seen`(root: String) async throws {
    try folder.write(to: "f")
    let observer = try await start([root])
    for round in 1...100 {
      recorder.clear()
      try folder.write("\(round)", to: "t")
      try folder.rename("t", to: "f")
      #expect(await recorder.sees(folder["f"]))
    }
    // And what is written in place after all of these.
    recorder.clear()
    try folder.append("x", to: "f")
    #expect(await recorder.sees(folder["f"]))
    observer.stop()
  }

  @Test func `a file that is replaced before it is under watch is seen`() async throws {
    let observer = try await start()
    for round in 1...20 {
      // The folder's watch tells of the new file, whose own is asked for and not there yet.
      try folder.write("new", to: "f\(round)")
      try folder.write("newer", to: "t")
      try folder.rename("t", to: "f\(round)")
      try folder.append("x", to: "f\(round)")
      #expect(await recorder.sees(folder["f\(round)"]))
      // Told as a modification, or with the rename that it comes upon.
      recorder.clear()
      try folder.append("y", to: "f\(round)")
      #expect(await recorder.sees(folder["f\(round)"]))
    }
    observer.stop()
  }

  /// The number of descriptors is limited.
  @Test func `what there is no room for is looked at instead, and that is said once`() async throws
  {
    for folder in 1...4 {
      try self.folder.makeDirectories("d\(folder)")
      for file in 1...5 { try self.folder.write(to: "d\(folder)/f\(file)") }
    }
    let observer = try await start(capacity: 8)
    #expect(await eventually { recorder.warnings.map(\.code) == [.watchLimitReached] })
    #expect(recorder.warnings.first?.advice.contains("ulimit -n") == true)
    #expect(observer.statistics.watches <= 8)
    for number in 1...4 {
      try folder.append("x", to: "d\(number)/f5")
      #expect(await recorder.sees(.modified, folder["d\(number)/f5"]))
    }
    #expect(recorder.warnings.count == 1)
    observer.stop()
  }

  @Test func `watches are given back with what they were for`() async throws {
    let observer = try await start()
    let before = observer.statistics.watches
    for _ in 1...5 {
      try folder.makeDirectories("a/b")
      try folder.write(to: "a/b/f")
      #expect(await eventually { observer.statistics.watches == before + 3 })
      try folder.remove("a")
      #expect(await eventually { observer.statistics.watches == before })
    }
    observer.stop()
  }
}

#endif  // os(Linux)
