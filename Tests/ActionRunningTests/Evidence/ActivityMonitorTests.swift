import FileObservation
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

  init() throws {
    directory = try TemporaryDirectory()
    // Looks cost nothing, whatever the machine does.
    monitor = ActivityMonitor(launcher, scheduler: scheduler, processorTime: { .zero })
    launcher.activity = ProcessActivity()
  }

  private let request = SpawnRequest(arguments: [[]], environment: [], standardInput: .null)

  @discardableResult
  private func launch() throws -> FakeGroup {
    try #require(try monitor.launch(request) { _ in } as? FakeGroup)
  }

  private func evidence(_ change: ChangeBatch.Change) -> Verdict? {
    monitor.evidence(about: [change], areAll: true)[change.path]
  }

  /// Waits until the file clock has moved on by so much, so that changes differ from looks in time.
  private func awaitTick(after pause: Duration = .zero) {
    let time = FileTime.latest().advanced(by: pause)
    while FileTime.now() <= time {}
  }

  @Test func `a save between two looks at idle processes is one of others`() throws {
    try launch()
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    #expect(evidence(.of(directory["f"], .modified)) == Verdict.others)
  }

  /// The process runs before its group is known.
  @Test func `what a new process makes at its start is not proved to be of others`() throws {
    let number = monitor.willLaunch()
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    // Before it is known as after.
    monitor.look(beginsBurst: true)
    #expect(evidence(.of(directory["f"], .created)) == .unknown)
    monitor.hasLaunched(try launcher.launch(request) { _ in }, number: number)
    #expect(evidence(.of(directory["f"], .created)) == .unknown)
  }

  @Test func `what a run makes that is over before its group is known is not of others`() throws {
    let number = monitor.willLaunch()
    monitor.look(beginsBurst: true)
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    monitor.hasLaunched(nil, number: number)
    #expect(evidence(.of(directory["f"], .created)) == .unknown)
  }

  /// As the attempts while another process writes the program.
  @Test func `each attempt to start a process is between two looks`() throws {
    for error in [SystemError(call: "spawn", code: ETXTBSY), nil] {
      launcher.failLaunches(with: error)
      let before = launcher.lookCount
      let group = try? launch()
      #expect((group == nil) == (error != nil))
      #expect(launcher.lookCount == before + 2)
    }
  }

  @Test func `a save while a process writes proves nothing`() throws {
    try launch()
    awaitTick()
    try directory.write("x", to: "f")
    awaitTick(after: .milliseconds(20))
    launcher.activity = ProcessActivity(
      writes: ProcessActivity.Writes(bytes: 1), switches: 1)
    #expect(evidence(.of(directory["f"], .modified)) == .unknown)
  }

  @Test func `a removal is proved by the look at the first report of the burst`() throws {
    try launch()
    let path = directory["gone"]
    #expect(evidence(.of(path, .removed)) == .unknown)
    awaitTick(after: .milliseconds(60))
    monitor.look(beginsBurst: true)
    #expect(evidence(.of(path, .removed)) == .others)
    // It may not be what has begun the burst.
    #expect(monitor.evidence(about: [.of(path, .removed)])[path] == .unknown)
  }

  @Test func `both paths of a rename have evidence`() throws {
    try launch()
    let change = ChangeBatch.Change.of(directory["b"], .renamed, from: directory["a"])
    #expect(Set(monitor.evidence(about: [change]).keys) == [directory["a"], directory["b"]])
  }

  @Test(arguments: [WriteMode.write, .update])
  func `a file that a process has open is the run's, unless people may edit it`(mode: WriteMode)
    throws
  {
    let group = try launch()
    awaitTick()
    for (name, text) in [("text", "x"), ("database", "x\0"), ("empty", "")] {
      let file = directory[name]
      try directory.write(text, to: name)
      group.openFiles = [file: mode]
      launcher.activity = ProcessActivity(switches: 1, isRunning: true)
      let isRuns = mode == .write || name != "text"
      #expect(evidence(.of(file, .modified)) == (isRuns ? .run : .unknown))
    }
  }

  /// A server has written at its start, and has the file open that a person edits.
  @Test func `more and more rare looks after a start prove that a server has not written`() throws {
    let group = try launch()
    let before = launcher.lookCount
    launcher.activity = ProcessActivity(writes: ProcessActivity.Writes(bytes: 1), switches: 1)
    scheduler.advance(by: .seconds(200))
    #expect(launcher.lookCount == before + 3 && scheduler.pendingCount == 0)
    awaitTick()
    try directory.write("x", to: "f")
    group.openFiles = [directory["f"]: .write]
    awaitTick(after: .milliseconds(20))
    launcher.activity?.switches = 2
    #expect(evidence(.of(directory["f"], .modified)) == Verdict.others)
    group.endLeader(.exited(0))
    try launch()
    monitor.end()
    #expect(scheduler.pendingCount == 0)
  }

  @discardableResult
  private func launchLongAgo() throws -> FakeGroup {
    let group = try launch()
    scheduler.advance(by: .seconds(200))
    return group
  }

  // MARK: Close watching

  @Test func `processes are looked at often for four seconds after a suspicious change`() throws {
    try launchLongAgo()
    let before = launcher.lookCount
    monitor.watchClosely { true }
    monitor.watchClosely { true }
    #expect(scheduler.pendingCount == 1)
    scheduler.advance(by: .seconds(1))
    #expect(launcher.lookCount == before + 100)
    scheduler.advance(by: .seconds(60))
    #expect(launcher.lookCount == before + 399)
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `another suspicious change prolongs that`() throws {
    try launchLongAgo()
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(3))
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(3))
    #expect(scheduler.pendingCount == 1)
    scheduler.advance(by: .seconds(2))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `nobody looks often when nothing is suspected or runs, or the kernel tells nothing`()
    throws
  {
    monitor.watchClosely { true }
    #expect(scheduler.pendingCount == 0)
    let group = try launchLongAgo()
    monitor.watchClosely { false }
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    monitor.watchClosely { true }
    group.endLeader(.exited(0))
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
    try launchLongAgo()
    launcher.activity = nil
    monitor.watchClosely { true }
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `it goes on with the next run, and after a look that fails`() throws {
    let group = try launch()
    monitor.watchClosely { true }
    group.endLeader(.exited(0))
    scheduler.advance(by: .seconds(1))
    try launch()
    let activity = launcher.activity
    launcher.activity = nil
    scheduler.advance(by: .milliseconds(10))
    launcher.activity = activity
    let before = launcher.lookCount
    scheduler.advance(by: .milliseconds(100))
    #expect(launcher.lookCount == before + 10)
    scheduler.advance(by: .seconds(200))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `the end of the runner ends it`() throws {
    try launch()
    monitor.watchClosely { true }
    monitor.end()
    #expect(scheduler.pendingCount == 0)
  }
}
