import Dispatch
import TestSupport
import Testing

@testable import Support

/// With real time.
struct DispatchSchedulerTests {
  private let queue = DispatchQueue(label: "test")
  private let scheduler: DispatchScheduler
  private let log = Log<String>()

  init() {
    scheduler = DispatchScheduler(queue: queue)
  }

  private func schedule(_ name: String, in time: Duration) -> any ScheduledWork {
    scheduler.schedule(at: scheduler.now.advanced(by: time)) { [log] in log.note(name) }
  }

  @Test func `work is done in order of time, and what is cancelled is not done`() async {
    // However long a busy machine takes to schedule it.
    queue.suspend()
    _ = schedule("last", in: .milliseconds(60))
    let cancelled = schedule("cancelled", in: .milliseconds(30))
    _ = schedule("first", in: .milliseconds(20))
    _ = schedule("overdue", in: .milliseconds(-5))
    cancelled.cancel()
    queue.resume()
    #expect(await eventually { log.entries.last == "last" })
    #expect(log.entries == ["overdue", "first", "last"])
  }

  @Test func `work releases what it retains when it is cancelled or done`() async {
    final class Thing: Sendable {
      let log: Log<String>
      init(_ log: Log<String>) { self.log = log }
      deinit { log.note("released") }
    }
    let later = scheduler.now.advanced(by: .seconds(1000))
    let work = scheduler.schedule(at: later) { [thing = Thing(log)] in _ = thing }
    work.cancel()
    #expect(log.entries == ["released"])
    _ = scheduler.schedule(at: scheduler.now) { [thing = Thing(log)] in _ = thing }
    #expect(await eventually { log.entries == ["released", "released"] })
  }

  @Test func `work is done though nothing else retains its scheduler`() async {
    DispatchScheduler(queue: .global()).schedule(
      at: scheduler.now.advanced(by: .milliseconds(10))
    ) { [log] in log.note("done") }.forget()
    #expect(await eventually { log.entries == ["done"] })
  }

  @Test func `work may schedule and cancel work`() async {
    let never = schedule("never", in: .milliseconds(40))
    _ = scheduler.schedule(at: scheduler.now.advanced(by: .milliseconds(5))) { [self] in
      never.cancel()
      _ = schedule("second", in: .milliseconds(50))
    }
    #expect(await eventually { log.entries == ["second"] })
  }
}

/// With an alarm that never rings.
struct SchedulerAlarmTests {
  private struct FakeAlarm: Alarm {
    let log: Log<Instant?>

    func set(_ time: Instant?) { log.note(time) }
  }

  @Test func `no alarm is set when all work is cancelled`() {
    let log = Log<Instant?>()
    let timer = DispatchScheduler(queue: .global()) { _, _ in FakeAlarm(log: log) }
    let times = [20, 10, 30].map { Instant.now.advanced(by: .seconds($0)) }
    let works = times.map { timer.schedule(at: $0) {} }
    #expect(log.entries == [times[0], times[1]])
    for work in works { work.cancel() }
    #expect(log.entries == [times[0], times[1], times[2], nil])
  }

  @Test func `what is due waits for as long as the clock stands still`() {
    let log = Log<Instant?>()
    let timer = DispatchScheduler(queue: .global()) { _, _ in FakeAlarm(log: log) }
    let time = Instant.now.advanced(by: .seconds(20))
    let work = timer.schedule(at: time) {}
    timer.stoodStill(for: .seconds(1000))
    #expect(log.entries == [time, time.advanced(by: .seconds(1000))])
    #expect(timer.now < .now.advanced(by: .seconds(-999)))
    work.cancel()
  }

  @Test func `a scheduler that is prepared needs no other alarm for its work`() {
    let made = Log<String>()
    let timer = DispatchScheduler(queue: .global()) { _, _ in
      made.note("alarm")
      return FakeAlarm(log: Log())
    }
    #expect(made.entries == [])
    timer.prepare()
    #expect(made.entries == ["alarm"])
    let time = Instant.now.advanced(by: .seconds(10))
    timer.schedule(at: time) {}.cancel()
    #expect(made.entries == ["alarm"])
  }
}

extension ScheduledWork {
  fileprivate func forget() {}
}
