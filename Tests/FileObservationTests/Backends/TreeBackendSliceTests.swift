import Dispatch
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Changes of watched directories are delivered between the slices of longer work.
struct TreeBackendSliceTests {
  /// A backend over a disk in memory, with one directory a slice. Everything is used on its queue.
  private final class Observation: @unchecked Sendable {
    static let directoryCount = 40
    /// A file of the root, which is always watched.
    static let file: Path = "/r/file"

    let queue = DispatchQueue(label: "watchrun.tests.slices")
    private let disk = MemoryDisk(.init())
    private let hints: MemoryHints
    private var backend: TreeBackend?
    /// The number of directories that were listed since the change of `begin`.
    private(set) var listed = 0
    private var changesAt: Int?
    /// How many had been listed when the file was written, and when that was reported.
    private(set) var written: Int?
    private(set) var reported: Int?

    init(watchLimit: Int = .max) {
      hints = MemoryHints(disk)
      hints.limit = watchLimit
      disk.create("/r", .directory)
      disk.create(Self.file, .file)
      disk.create("/r/.gitignore", .file)
      for number in 1...Self.directoryCount {
        disk.create(Path("/r/\(number)"), .directory)
      }
      disk.pass(1_000_000_000)
      disk.note = { [unowned self] call, _ in
        guard call == "getdents64" else { return }
        listed += 1
        if listed == changesAt {
          (changesAt, written) = (nil, listed)
          disk.write(Self.file)
        }
      }
      var configuration = BackendConfiguration(
        roots: [.init(path: "/r", coverage: .recursive)], filter: PathFilter(sources: []),
        start: disk.now, queue: queue
      ) { [unowned self] in receive($0) }
      configuration.pollInterval = .milliseconds(1) ... .milliseconds(2)
      backend = TreeBackend(configuration, source: hints, disk: disk, sliceDuration: .zero)
    }

    private func receive(_ report: BackendReport) {
      guard case .events(let events, _) = report, reported == nil, written != nil,
        events.contains(where: { $0.path == Self.file })
      else { return }
      reported = listed
    }

    func start() { backend?.start() }
    func stop() { backend?.stop() }

    /// After all that is under way, makes a change. The file is written in the third listing that
    /// follows.
    func begin(_ change: @escaping @Sendable (MemoryDisk) -> Void) {
      backend?.flush { [self] in
        (listed, changesAt) = (0, 3)
        disk.pass(1_000_000_000)
        change(disk)
      }
    }
  }

  private func check(
    watchLimit: Int = .max, _ change: @escaping @Sendable (MemoryDisk) -> Void
  ) async throws {
    let observation = Observation(watchLimit: watchLimit)
    observation.start()
    observation.begin(change)
    #expect(await eventually { observation.queue.sync { observation.reported != nil } })
    let (written, reported) = observation.queue.sync {
      (observation.written, observation.reported)
    }
    #expect(written == 3)
    #expect(try #require(reported) <= 10)
    // Everything was looked at all the same.
    #expect(
      await eventually {
        observation.queue.sync { observation.listed >= Observation.directoryCount }
      })
    observation.stop()
    observation.queue.sync {}
  }

  @Test func `a change is delivered while changed ignore rules are applied`() async throws {
    try await check { $0.write("/r/.gitignore") }
  }

  @Test func `a change in a watched directory is delivered during a poll`() async throws {
    try await check(watchLimit: 1) { _ in }
  }

  /// A polled backend over a disk in memory, with one directory a slice. Used on its queue.
  private final class PolledObservation: @unchecked Sendable {
    static let root: Path = "/r"
    static let file: Path = "/r/file"

    let queue = DispatchQueue(label: "watchrun.tests.polled-slices")
    private(set) var kinds: [RawEvent.Kind] = []
    /// The number of polls for the flush that has completed.
    private(set) var pollsOfFlush: Int?
    /// The flush itself looks at the root before the first one.
    private var polls = -1
    private let disk = MemoryDisk(.init())
    private var backend: TreeBackend?

    init(pollInterval: ClosedRange<Duration> = .milliseconds(1) ... .milliseconds(2)) {
      disk.create(Self.root, .directory)
      disk.create(Self.file, .file)
      for name in ["a", "b", "c"] { disk.create(Self.root.appending(name), .directory) }
      disk.pass(1_000_000_000)
      var configuration = BackendConfiguration(
        roots: [.init(path: Self.root, coverage: .recursive)], filter: PathFilter(sources: []),
        start: disk.now, queue: queue
      ) { [unowned self] report in
        guard case .events(let events, _) = report else { return }
        kinds += events.filter { $0.path == Self.file }.map(\.kind)
      }
      configuration.pollInterval = pollInterval
      backend = TreeBackend(configuration, source: nil, disk: disk, sliceDuration: .zero)
    }

    func start() { backend?.start() }
    func stop() { backend?.stop() }

    /// After all that is under way, flushes while the file is written to in some polls.
    func flushWhileFileChanges(inPolls count: Int) {
      backend?.flush { [self] in
        disk.note = { [unowned self] call, path in
          guard call == "open", path == Self.root else { return }
          polls += 1
          disk.pass(1_000_000_000)
          if polls > 0 && polls <= count { disk.write(Self.file) }
        }
        backend?.flush { [self] in
          disk.note = { _, _ in }
          pollsOfFlush = polls
        }
      }
    }

    /// Removes the file after all that is under way, and creates it again, with a flush, as soon as
    /// a poll has listed the root.
    func replaceFileDuringPoll() {
      backend?.flush { [self] in
        disk.pass(1_000_000_000)
        disk.remove(Self.file)
        var isRootListed = false
        disk.note = { [unowned self] call, path in
          guard call == "open" || call == "openat" else { return }
          if path == Self.root {
            isRootListed = true
          } else if isRootListed {
            disk.note = { _, _ in }
            disk.create(Self.file, .file)
            backend?.flush {}
          }
        }
      }
    }
  }

  @Test func `what a flush finds during a poll is reported after what the poll has found`()
    async throws
  {
    let observation = PolledObservation()
    observation.start()
    observation.replaceFileDuringPoll()
    #expect(
      await eventually {
        observation.queue.sync {
          observation.kinds.contains(.removed) && observation.kinds.contains(.created)
        }
      })
    #expect(observation.queue.sync { observation.kinds.last } == .created)
    observation.stop()
    observation.queue.sync {}
  }

  @Test func `a flush waits until a poll finds nothing, for four polls at most`() async throws {
    for changing in [0, 2, 10] {
      let observation = PolledObservation(pollInterval: .seconds(600) ... .seconds(600))
      observation.start()
      observation.flushWhileFileChanges(inPolls: changing)
      let expected = min(changing + 1, 4)
      #expect(
        await eventually { observation.queue.sync { observation.pollsOfFlush != nil } })
      #expect(observation.queue.sync { observation.pollsOfFlush } == expected)
      observation.stop()
      observation.queue.sync {}
    }
  }
}
