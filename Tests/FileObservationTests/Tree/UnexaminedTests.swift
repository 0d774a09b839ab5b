import Dispatch
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Directories that cannot be examined for a while, on a disk in memory.
struct UnexaminedTests {
  @Test func `what changes while a directory above a root cannot be searched is found later`()
    throws
  {
    let observed = MemoryTree { disk in
      disk.create("/r/sub", .directory)
      disk.create("/r/f", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.failure = { _ in EACCES }
    observed.disk.create("/r/new", .file)
    observed.disk.create("/r/sub/directory", .directory)
    observed.disk.create("/r/sub/directory/h", .file)
    _ = try observed.changes()
    #expect(observed.tree.needsPolls)
    observed.tree.poll()
    #expect(try observed.changes() == [])
    observed.disk.failure = { _ in nil }
    observed.tree.poll()
    #expect(
      observed.takeChanges() == [
        "created /r/new", "created /r/sub/directory", "created /r/sub/directory/h",
      ])
    #expect(!observed.tree.needsPolls)
    observed.disk.write("/r/sub/directory/h")
    #expect(try observed.changes() == ["modified /r/sub/directory/h"])
  }

  @Test func `a tree that is moved in while no descriptor is free is read later`() throws {
    let observed = MemoryTree { disk in
      disk.create("/away", .directory)
      disk.create("/away/sub", .directory)
      disk.create("/away/sub/f", .file)
    }
    try observed.start()
    var call = ""
    observed.disk.note = { name, _ in call = name }
    observed.disk.failure = { _ in call.hasPrefix("open") ? EMFILE : nil }
    observed.disk.rename("/away", to: "/r/new")
    #expect(try observed.changes() == ["created /r/new"])
    observed.disk.failure = { _ in nil }
    observed.tree.poll()
    #expect(observed.takeChanges() == ["created /r/new/sub", "created /r/new/sub/f"])
    observed.disk.write("/r/new/sub/f")
    #expect(try observed.changes() == ["modified /r/new/sub/f"])
  }

  @Test func `a write before the watch in a directory that cannot be searched is found later`()
    throws
  {
    let observed = MemoryTree { disk in
      disk.create("/r/d", .directory)
      disk.create("/r/d/f", .file)
      disk.setMode(0o600, of: "/r/d")
    }
    observed.disk.pass(1_000_000_000)
    observed.disk.write("/r/d/f")
    try observed.start()
    // Time passes, and other hints are read.
    observed.disk.create("/r/other", .file)
    #expect(try observed.changes() == ["created /r/other"])
    #expect(!observed.tree.needsPolls, "its permissions have a hint")
    observed.disk.setMode(0o755, of: "/r/d")
    #expect(try observed.changes().contains("modified /r/d/f"))
  }

  @Test func `a watched file that changes where it cannot be looked up is compared later`() throws {
    let observed = MemoryTree(roots: ["/r", "/r/f", "/r/g"]) { disk in
      disk.create("/r/f", .file)
      disk.create("/r/g", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.setMode(0o600, of: "/r")
    observed.disk.remove("/r/f")
    observed.disk.write("/r/g")
    _ = try observed.changes()
    observed.disk.setMode(0o755, of: "/r")
    #expect(
      try observed.changes() == ["metadata /r", "modified /r/g", "removed /r/f"])
  }

  @Test func `a file that may not be read is watched through its directory`() throws {
    let observed = MemoryTree(roots: ["/r/f"]) { disk in
      disk.create("/r/f", .file)
      disk.setMode(0, of: "/r/f")
    }
    try observed.start()
    #expect(observed.tree.directories.unwatched.isEmpty)
    observed.tree.warnOfLimit()
    #expect(observed.tree.takeFindings().warnings.isEmpty)
    observed.disk.write("/r/f")
    #expect(try observed.changes() == ["modified /r/f"])
  }

  /// A backend over a disk in memory. Everything is used on its queue.
  private final class Backend: @unchecked Sendable {
    let queue = DispatchQueue(label: "watchrun.tests.unexamined")
    private let disk = MemoryDisk(.init())
    private let hints: MemoryHints
    private var backend: TreeBackend?
    private(set) var reported: Set<Path> = []

    init() {
      hints = MemoryHints(disk)
      disk.create("/r", .directory)
      disk.pass(1_000_000_000)
      let configuration = BackendConfiguration(
        roots: [.init(path: "/r", coverage: .recursive)], filter: PathFilter(sources: []),
        start: disk.now, queue: queue
      ) { [unowned self] report in
        if case .events(let events, _) = report { reported.formUnion(events.map(\.path)) }
      }
      backend = TreeBackend(configuration, source: hints, disk: disk)
    }

    func start() { backend?.start() }
    func stop() { backend?.stop() }

    /// Creates a file while no path can be looked up. After some failures, all can.
    func createUnseen(_ path: Path) {
      backend?.flush { [self] in
        var failures = 0
        disk.failure = { [unowned self] _ in
          failures += 1
          if failures == 5 { disk.failure = { _ in nil } }
          return EIO
        }
        disk.create(path, .file)
      }
    }
  }

  @Test func `what a fault of the file system has hidden is reported without another hint`()
    async throws
  {
    let observation = Backend()
    observation.start()
    observation.createUnseen("/r/new")
    #expect(await eventually { observation.queue.sync { observation.reported.contains("/r/new") } })
    observation.stop()
    observation.queue.sync {}
  }
}
