import Synchronization
import TestSupport
import Testing

@testable import FileObservation

/// Changes at certain milliseconds, and the milliseconds at which a burst must have ended.
struct Timeline: Sendable, CustomTestStringConvertible {
  /// A change. One in parentheses leaves a file open for writing.
  enum Change: Sendable, ExpressibleByIntegerLiteral {
    case at(Int)
    case writing(Int)

    init(integerLiteral value: Int) {
      self = .at(value)
    }
  }

  let testDescription: String
  var quiet = QuietPeriod.adaptive
  var maximumWait = Duration.seconds(1)
  let changes: [Change]
  let ends: [Int]

  init(
    _ claim: String, quiet: QuietPeriod = .adaptive, maximumWait: Duration = .seconds(1),
    changes: [Change], ends: [Int]
  ) {
    testDescription = claim
    self.quiet = quiet
    self.maximumWait = maximumWait
    self.changes = changes
    self.ends = ends
  }

  static func every(_ step: Int, through end: Int) -> [Change] {
    stride(from: 0, through: end, by: step).map { .at($0) }
  }
}

struct DebouncerTests {
  private let ends = Log<Int>()

  private func play(_ timeline: Timeline, on scheduler: ManualScheduler) {
    let debouncer = Debouncer(
      quietPeriod: timeline.quiet, maximumWait: timeline.maximumWait, scheduler: scheduler
    ) { [ends] _ in ends.note(Int(scheduler.now.offset.nanoseconds / 1_000_000)) }
    for change in timeline.changes {
      switch change {
      case .at(let time):
        scheduler.advance(by: scheduler.now.duration(to: .milliseconds(time)))
        debouncer.noteChange()
      case .writing(let time):
        scheduler.advance(by: scheduler.now.duration(to: .milliseconds(time)))
        debouncer.noteChange(isBeingWritten: true)
      }
    }
    scheduler.advance(by: .seconds(5))
  }

  private static let timelines = [
    Timeline("a single change waits 10 ms", changes: [0], ends: [10]),
    Timeline("changes at once are one burst", changes: [0, 0, 0], ends: [10]),
    Timeline("short gaps leave it at 10 ms", changes: [0, 1, 2, 4], ends: [14]),
    Timeline("the quiet period is twice the longest gap", changes: [0, 8], ends: [24]),
    Timeline("a shorter gap does not make it shorter", changes: [0, 8, 9], ends: [25]),
    Timeline("it grows with the gaps", changes: [0, 8, 20], ends: [44]),
    Timeline("it grows to no more than 100 ms", changes: [0, 9, 25, 55, 110, 200], ends: [300]),
    Timeline("a change soon after a burst counts as gap", changes: [0, 20, 50], ends: [10, 110]),
    Timeline("the next burst has the gaps of the stream", changes: [0, 8, 40], ends: [24, 104]),
    Timeline("100 ms later it is a gap of the stream", changes: [0, 100], ends: [10, 200]),
    Timeline(
      "a longer pause halves the gap", changes: [0, 20, 40, 240], ends: [10, 80, 260]),
    Timeline("one above 200 ms forgets it", changes: [0, 20, 40, 241], ends: [10, 80, 251]),
    Timeline(
      "a stream is one burst after its first change", changes: Timeline.every(20, through: 1500),
      ends: [10, 1020, 1540]),
    Timeline(
      "the longest wait does not forget the gaps", maximumWait: .milliseconds(100),
      changes: [0, 30, 60, 90, 120, 131], ends: [10, 130, 191]),
    Timeline("a file being written is waited for", changes: [.writing(0)], ends: [100]),
    Timeline("when it is closed, no longer", changes: [.writing(0), 3], ends: [13]),
    Timeline("what the wait was, counts as gap", changes: [.writing(0), 30], ends: [90]),
    Timeline(
      "a writer that goes on prolongs it", changes: [.writing(0), .writing(90)], ends: [190]),
    Timeline(
      "a stream of changes is cut at the longest wait", changes: Timeline.every(5, through: 1200),
      ends: [1000, 1210]),
    Timeline(
      "the longest wait counts from the first change", maximumWait: .milliseconds(20),
      changes: [0, 8, 16, 30], ends: [20, 50]),
    Timeline(
      "a fixed period is always the same", quiet: .fixed(.milliseconds(50)),
      changes: [0, 20, 69, 200], ends: [119, 250]),
    Timeline(
      "a fixed period does not wait for a writer", quiet: .fixed(.milliseconds(50)),
      changes: [.writing(0)], ends: [50]),
    Timeline(
      "a fixed period is cut at the longest wait", quiet: .fixed(.milliseconds(50)),
      maximumWait: .milliseconds(100), changes: Timeline.every(10, through: 150), ends: [100, 200]),
    Timeline(
      "zero ends a burst with each change", quiet: .fixed(.zero), changes: [0, 0, 3],
      ends: [0, 0, 3]),
    Timeline("no wait at all ends it as well", maximumWait: .zero, changes: [0, 4], ends: [0, 4]),
  ]

  @Test(arguments: timelines)
  func `a burst ends at the expected time`(timeline: Timeline) {
    play(timeline, on: ManualScheduler())
    #expect(ends.entries == timeline.ends)
  }

  @Test(arguments: timelines)
  func `timers that cannot be cancelled have no effect`(timeline: Timeline) {
    play(timeline, on: ManualScheduler(honoursCancelling: false))
    #expect(ends.entries == timeline.ends)
  }

  @Test func `many changes need few timers, and idling none`() {
    let scheduler = ManualScheduler()
    let debouncer = Debouncer(
      quietPeriod: .adaptive, maximumWait: .seconds(1), scheduler: scheduler
    ) { _ in }
    for _ in 0..<20_000 { debouncer.noteChange() }
    #expect(scheduler.pendingCount == 1)
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `no burst ends after the stop`() {
    let scheduler = ManualScheduler()
    let debouncer = Debouncer(
      quietPeriod: .adaptive, maximumWait: .seconds(1), scheduler: scheduler
    ) { [ends] _ in ends.note(0) }
    debouncer.noteChange()
    debouncer.stop()
    debouncer.stop()
    #expect(scheduler.pendingCount == 0)
    debouncer.noteChange()
    scheduler.advance(by: .seconds(5))
    #expect(ends.entries.isEmpty)
  }

  @Test func `a flush during a hold delivers what has changed, and the burst ends with the hold`() {
    let scheduler = ManualScheduler()
    let isHeld = Mutex(true)
    let log = Log<String>()
    let debouncer = Debouncer(
      quietPeriod: .fixed(.milliseconds(10)), maximumWait: .seconds(1), scheduler: scheduler,
      isHeld: { isHeld.withLock { $0 } }
    ) { log.note($0 ? "part" : "burst") }
    debouncer.noteChange()
    scheduler.advance(by: .milliseconds(40))
    debouncer.flush()
    #expect(log.entries == ["part"])
    isHeld.withLock { $0 = false }
    scheduler.advance(by: .milliseconds(40))
    #expect(log.entries == ["part", "burst"])
    #expect(scheduler.pendingCount == 0)
  }

  /// A debouncer whose deliveries are noted as `burst` or `part`.
  private func debouncer(_ scheduler: ManualScheduler, _ log: Log<String>) -> Debouncer {
    Debouncer(quietPeriod: .adaptive, maximumWait: .seconds(1), scheduler: scheduler) { isPartial in
      log.note(isPartial ? "part" : "burst")
    }
  }

  @Test func `a flush delivers the changes so far, and the burst goes on`() {
    let scheduler = ManualScheduler()
    let log = Log<String>()
    let debouncer = debouncer(scheduler, log)
    debouncer.noteChange()
    scheduler.advance(by: .milliseconds(8))
    debouncer.flush()
    #expect(log.entries == ["part"])
    debouncer.awaitBurstEnd { log.note("ended") }
    debouncer.noteChange()
    scheduler.advance(by: .milliseconds(15))
    #expect(log.entries == ["part"])
    scheduler.advance(by: .milliseconds(1))
    #expect(log.entries == ["part", "burst", "ended"])
    #expect(scheduler.pendingCount == 0)
  }

  @Test func `without a burst, or anything new, a flush delivers nothing`() {
    let scheduler = ManualScheduler()
    let log = Log<String>()
    let debouncer = debouncer(scheduler, log)
    debouncer.flush()
    debouncer.awaitBurstEnd { log.note("ended") }
    #expect(log.entries == ["ended"])
    debouncer.noteChange()
    debouncer.flush()
    debouncer.flush()
    #expect(log.entries == ["ended", "part"])
  }

  @Test func `who waits for the end of a burst is called when the debouncer stops`() {
    let scheduler = ManualScheduler()
    let log = Log<String>()
    let debouncer = debouncer(scheduler, log)
    debouncer.noteChange()
    debouncer.awaitBurstEnd { log.note("ended") }
    debouncer.stop()
    #expect(log.entries == ["ended"])
  }
}
