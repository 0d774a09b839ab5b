import Dispatch
import FileObservation
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// When processes are looked at, and what that tells about real files.
struct ActivityMonitorTests {
  private let directory: TemporaryDirectory
  private let launcher = FakeLauncher()
  private let scheduler = ManualScheduler()
  private let monitor: ActivityMonitor
  private let groups = GroupList()

  private final class GroupList: Sendable {
    let groups = Mutex<[any LaunchedGroup]>([])
  }

  init() throws {
    directory = try TemporaryDirectory()
    monitor = ActivityMonitor(launcher, scheduler: scheduler)
    launcher.activity = ProcessActivity()
    monitor.watch { [groups] in groups.groups.withLock { $0 } }
  }

  /// The process groups of all runs change.
  private func setGroups(_ groups: [any LaunchedGroup]) {
    self.groups.groups.withLock { $0 = groups }
    monitor.look()
  }

  private func launch() throws -> FakeGroup {
    _ = try launcher.launch(
      SpawnRequest(arguments: [[]], environment: [], standardInput: .null)
    ) { _ in }
    return try #require(launcher.groups.last)
  }

  private func evidence(_ change: ChangeBatch.Change) -> Evidence? {
    monitor.evidence(about: [change])[change.path]
  }

  /// Waits until the file clock has moved on by so much, so that changes differ from looks in time.
  private func awaitTick(after pause: Duration = .zero) {
    let time = FileTime.latest().advanced(by: pause)
    while FileTime.now() <= time {}
  }

  @Test func `a save between two looks at idle processes is one of others`() throws {
    setGroups([try launch()])
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    #expect(evidence(.of(directory["f"], .modified)) == Evidence(verdict: .others))
  }

  /// The process runs before its group is known.
  @Test func `what a new process makes at its start is not proved to be of others`() throws {
    monitor.groupsWillChange()
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    // Before it is known as after.
    monitor.look(beginsBurst: true)
    #expect(evidence(.of(directory["f"], .created))?.verdict == .unknown)
    setGroups([try launch()])
    #expect(evidence(.of(directory["f"], .created))?.verdict == .unknown)
  }

  @Test func `what a run makes that is over before its group is known is not of others`() throws {
    monitor.groupsWillChange()
    monitor.look(beginsBurst: true)
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    monitor.groupsHaveChanged()
    #expect(evidence(.of(directory["f"], .created))?.verdict == .unknown)
  }

  @Test func `a save while a process writes proves nothing`() throws {
    setGroups([try launch()])
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    launcher.activity = ProcessActivity(
      writes: ProcessActivity.Writes(bytes: 1), switches: 1)
    #expect(evidence(.of(directory["f"], .modified))?.verdict == .unknown)
  }

  @Test func `a removal is proved by the look at the first report of the burst`() throws {
    setGroups([try launch()])
    let path = directory["gone"]
    #expect(evidence(.of(path, .removed))?.verdict == .unknown)
    awaitTick(after: .milliseconds(60))
    monitor.look(beginsBurst: true)
    #expect(evidence(.of(path, .removed))?.verdict == .others)
  }

  @Test func `both paths of a rename have evidence`() throws {
    setGroups([try launch()])
    let change = ChangeBatch.Change.of(directory["b"], .renamed, from: directory["a"])
    #expect(Set(monitor.evidence(about: [change]).keys) == [directory["a"], directory["b"]])
  }

  @Test func `a file that a process has open for writing is the run's`() throws {
    let group = try launch()
    setGroups([group])
    awaitTick()
    try directory.write("x", to: "f")
    group.openFiles = [directory["f"]]
    launcher.activity = ProcessActivity(switches: 1, isRunning: true)
    #expect(evidence(.of(directory["f"], .modified)) == Evidence(verdict: .run))
  }

  // MARK: Close watching

  @Test func `processes are looked at often for 9 s after a suspicious change`() throws {
    setGroups([try launch()])
    let before = launcher.lookCount
    monitor.watchClosely { true }
    monitor.watchClosely { true }
    #expect(scheduler.pendingCount == 1)
    scheduler.advance(by: .seconds(1))
    #expect(launcher.lookCount == before + 100)
    scheduler.advance(by: .seconds(60))
    #expect(launcher.lookCount == before + 900)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `another suspicious change prolongs that`() throws {
    setGroups([try launch()])
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(8))
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(8))
    #expect(scheduler.pendingCount == 1)
    scheduler.advance(by: .seconds(8))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `nobody looks often when nothing is suspected or runs, or the kernel tells nothing`()
    throws
  {
    monitor.watchClosely { true }
    #expect(scheduler.pendingCount == 0)
    setGroups([try launch()])
    monitor.watchClosely { false }
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    monitor.watchClosely { true }
    setGroups([])
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    setGroups([try launch()])
    launcher.activity = nil
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `it goes on with the next run, and after a look that fails`() throws {
    setGroups([try launch()])
    monitor.watchClosely { true }
    setGroups([])
    scheduler.advance(by: .seconds(1))
    setGroups([try launch()])
    monitor.groupsHaveChanged()
    let activity = launcher.activity
    launcher.activity = nil
    scheduler.advance(by: .milliseconds(10))
    launcher.activity = activity
    let before = launcher.lookCount
    scheduler.advance(by: .milliseconds(100))
    #expect(launcher.lookCount == before + 10)
    scheduler.advance(by: .seconds(60))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `the end of the runner ends it`() throws {
    setGroups([try launch()])
    monitor.watchClosely { true }
    monitor.end()
    #expect(scheduler.pendingCount == 0)
  }
}
