import Support
import TestSupport
import Testing

struct ManualSchedulerTests {
  private let scheduler = ManualScheduler()
  private let log = Log<String>()

  private func schedule(_ name: String, at milliseconds: Int) -> any ScheduledWork {
    scheduler.schedule(at: .milliseconds(milliseconds)) { [log, scheduler] in
      log.note("\(name) at \(scheduler.now.offset.nanoseconds / 1_000_000)")
    }
  }

  @Test func `time stands still until it is advanced`() {
    #expect(scheduler.now == .milliseconds(0))
    scheduler.advance(by: .milliseconds(7))
    #expect(scheduler.now == .milliseconds(7))
  }

  @Test func `work is done in order of time, each at its own time`() {
    _ = schedule("late", at: 9)
    _ = schedule("early", at: 3)
    _ = schedule("as early, but second", at: 3)
    #expect(scheduler.pendingCount == 3)
    #expect(scheduler.nextTime == .milliseconds(3))
    scheduler.advance(by: .milliseconds(8))
    #expect(log.entries == ["early at 3", "as early, but second at 3"])
    scheduler.advance(by: .milliseconds(1))
    #expect(log.entries.last == "late at 9")
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `work that is scheduled by other work is done`() {
    _ = scheduler.schedule(at: .milliseconds(2)) { [self] in _ = schedule("second", at: 4) }
    scheduler.advance(by: .milliseconds(5))
    #expect(log.entries == ["second at 4"])
  }

  @Test func `cancelled work is not done`() {
    schedule("never", at: 1).cancel()
    scheduler.advance(by: .milliseconds(2))
    #expect(log.entries.isEmpty)
  }

  @Test func `work that is cancelled too late is done`() {
    let scheduler = ManualScheduler(honoursCancelling: false)
    scheduler.schedule(at: .milliseconds(1)) { [log] in log.note("begun") }.cancel()
    scheduler.advance(by: .milliseconds(2))
    #expect(log.entries == ["begun"])
  }
}
