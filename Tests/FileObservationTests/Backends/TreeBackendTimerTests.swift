import Dispatch
import PathFiltering
import TestSupport
import Testing

@testable import FileObservation

/// The timers of a backend over a disk in memory.
struct TreeBackendTimerTests {
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
