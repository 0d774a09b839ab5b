import Dispatch
import PathFiltering
import TestSupport
import Testing

@testable import FileObservation

/// The timers of a backend over a disk in memory.
struct TreeBackendTimerTests {
  @Test func `what exceeds the watch limit is polled each time that the limit is reached`()
    async throws
  {
    let disk = MemoryDisk(.init())
    let hints = MemoryHints(disk)
    hints.limit = 1
    for path in ["/r", "/r/a"] as [Path] { disk.create(path, .directory) }
    disk.pass(1_000_000_000)
    let queue = DispatchQueue(label: "watchrun.tests.polls")
    let reported = Log<Path>()
    var configuration = BackendConfiguration(
      roots: [.init(path: "/r", coverage: .recursive)], filter: PathFilter(sources: []),
      start: disk.now, queue: queue
    ) { report in
      if case .events(let events, _) = report {
        for event in events { reported.note(event.path) }
      }
    }
    configuration.pollInterval = .milliseconds(1) ... .milliseconds(2)
    let backend = TreeBackend(configuration, source: hints, disk: disk)
    backend.start()
    for name in ["b", "c"] {
      #expect(await eventually { backend.statistics.polledDirectories == 1 })
      queue.sync { hints.limit = .max }
      #expect(await eventually { backend.statistics.polledDirectories == 0 })
      queue.sync {
        hints.limit = hints.watchCount
        disk.create(Path("/r/\(name)"), .directory)
      }
      #expect(await eventually { backend.statistics.polledDirectories == 1 })
      let file = Path("/r/\(name)/f")
      queue.sync { disk.create(file, .file) }
      #expect(await eventually { reported.entries.contains(file) })
    }
    backend.stop()
    queue.sync {}
  }

  @Test func `what is moved away is reported though no descriptor is left after the start`()
    async throws
  {
    let disk = MemoryDisk(.init())
    let hints = MemoryHints(disk)
    disk.create("/r", .directory)
    disk.create("/outside", .directory)
    disk.create("/r/file", .file)
    disk.pass(1_000_000_000)
    let queue = DispatchQueue(label: "watchrun.tests.timers")
    let reported = Log<Path>()
    let configuration = BackendConfiguration(
      roots: [.init(path: "/r", coverage: .recursive)], filter: PathFilter(sources: []),
      start: disk.now, queue: queue
    ) { report in
      if case .events(let events, _) = report {
        for event in events { reported.note(event.path) }
      }
    }
    let alarms = LimitedAlarms()
    let backend = TreeBackend(
      configuration, source: hints, disk: disk, makeAlarm: alarms.make(on:_:))
    backend.start()
    let isScanned = Log<Bool>()
    backend.flush { isScanned.note(true) }
    #expect(await eventually { !isScanned.entries.isEmpty })
    alarms.exhaust()
    // The backend waits for a second hint, which would say where in the tree the file is now.
    queue.sync { disk.rename("/r/file", to: "/outside/file") }
    #expect(await eventually { reported.entries.contains("/r/file") })
    backend.stop()
    queue.sync {}
  }
}
