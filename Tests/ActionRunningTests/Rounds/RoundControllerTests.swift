import Dispatch
import FileObservation
import Synchronization
import TestSupport
import Testing

@testable import ActionRunning

/// A source that hands over what changed when a test says so.
private final class HeldSource: ChangeSource {
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  func flush(then done: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append(done) }
  }

  var count: Int { waiting.withLock { $0.count } }

  func answerAll() {
    for number in 0..<count { answer(number) }
  }

  /// Answers the question of this number, counted from 0.
  func answer(_ number: Int) {
    waiting.withLock { $0.indices.contains(number) ? $0[number] : nil }?()
  }
}

/// What is performed of the decisions. The paths are on no disk.
struct RoundKeeperTests {
  private let queue = DispatchQueue(label: "test.rounds")
  private let scheduler = ManualScheduler()
  private let source = HeldSource()
  private let log = Log<RoundController.Event>()

  private func controller(source: (any ChangeSource)?) -> RoundController {
    let controller = RoundController(on: queue, scheduler: scheduler, source: source)
    queue.sync { controller.deliver(to: log.note) }
    return controller
  }

  private func controller() -> RoundController { controller(source: source) }

  private func advance(by duration: Duration) {
    queue.sync { scheduler.advance(by: duration) }
    source.answerAll()
    queue.sync {}
  }

  /// Lets the answer arrive, which is passed to the queue.
  private func answer(_ number: Int) {
    source.answer(number)
    queue.sync {}
  }

  /// The triggers of the runs that were to begin.
  private var runs: [RunTrigger] {
    log.entries.compactMap { if case .run(let trigger) = $0 { trigger } else { nil } }
  }

  /// One round during which this name is removed.
  private func round(_ controller: RoundController, _ name: String, _ number: Int) {
    queue.sync {
      _ = controller.began(RunTrigger(.change))
      controller.changed(
        RunTrigger(.change, changes: [.of(Path("/no/\(name)"), .removed)]), .running)
      controller.workEnded(isLive: false)
    }
    answer(number)
  }

  /// A controller that waits 4 s, after four rounds in which entries of one directory were removed.
  private func delayedKeeper() -> RoundController {
    let controller = controller()
    for number in 0..<4 { round(controller, "\(number)", number) }
    return controller
  }

  @Test func `the source is flushed once at the end of a round`() {
    let controller = controller()
    queue.sync { _ = controller.began(RunTrigger(.start)) }
    #expect(source.count == 0)
    queue.sync {
      controller.changed(.change("/no/a"), .running)
      controller.workEnded(isLive: false)
      #expect(controller.isReading)
    }
    #expect(source.count == 1 && runs.isEmpty)
    answer(0)
    #expect(runs == [.change("/no/a")])
    #expect(source.count == 1)
    queue.sync { #expect(!controller.isReading) }
  }

  @Test func `an answer counts once, and not for a round that has begun meanwhile`() {
    let controller = controller()
    queue.sync {
      _ = controller.began(RunTrigger(.start))
      controller.workEnded(isLive: false)
      _ = controller.began(RunTrigger(.key))
      controller.changed(.change("/no/a"), .running)
    }
    answer(0)
    #expect(runs.isEmpty)
    queue.sync { controller.workEnded(isLive: false) }
    answer(0)
    queue.sync { #expect(controller.isReading) }
    answer(1)
    answer(1)
    #expect(runs == [.change("/no/a")])
  }

  @Test func `without a source a round ends with its runs`() {
    let controller = controller(source: nil)
    queue.sync {
      _ = controller.began(RunTrigger(.start))
      controller.changed(.change("/no/a"), .running)
      controller.workEnded(isLive: false)
    }
    #expect(runs == [.change("/no/a")])
  }

  @Test func `a follow-up begins when its delay is over, and is announced before`() {
    let controller = delayedKeeper()
    #expect(runs.count == 3)
    let loops = log.entries.compactMap { if case .found(let loop) = $0 { loop } else { nil } }
    #expect(loops.map(\.path) == ["/no"])
    advance(by: .milliseconds(3999))
    #expect(runs.count == 3 && source.count == 4)
    advance(by: .milliseconds(1))
    #expect(runs.count == 4 && source.count == 5)
    queue.sync {
      _ = controller.began(RunTrigger(.change))
      #expect(controller.depth == 4)
    }
  }

  @Test func `a round that begins cancels the delay and includes the owed changes`() {
    let controller = delayedKeeper()
    #expect(scheduler.pendingCount == 1)
    queue.sync {
      let trigger = controller.began(.change("/no/a"))
      #expect(trigger.changes.map(\.path) == ["/no/3", "/no/a"])
    }
    #expect(scheduler.pendingCount == 0)
    advance(by: .seconds(60))
    #expect(runs.count == 3)
  }

  @Test func `there is one timer, however many changes are owed`() {
    let controller = delayedKeeper()
    advance(by: .seconds(1))
    queue.sync {
      controller.changed(RunTrigger(.change, changes: [.of("/no/x", .removed)]), .beside(depth: 0))
    }
    #expect(scheduler.pendingCount == 1)
    advance(by: .seconds(3))
    #expect(runs.last?.changes.map(\.path) == ["/no/3", "/no/x"])
    advance(by: .seconds(60))
    #expect(runs.count == 4)
  }

  @Test func `stopping keeps the owed changes for the next run`() {
    let controller = delayedKeeper()
    queue.sync { controller.stopped() }
    let kept = log.entries.compactMap { if case .keep(let kept) = $0 { kept } else { nil } }
    #expect(kept.flatMap(\.changes).map(\.path) == ["/no/3"])
    advance(by: .seconds(60))
    #expect(runs.count == 3)
  }

  @Test func `nothing happens after the end`() {
    let controller = delayedKeeper()
    queue.sync { controller.end() }
    #expect(scheduler.pendingCount == 0)
    let count = log.entries.count
    queue.sync {
      controller.changed(.change("/no/a"), .idle)
      controller.changed(.change("/no/a"), .running)
      controller.workEnded(isLive: false)
      controller.stopped()
    }
    #expect(source.count == 4)
    #expect(log.entries.count == count)
  }

  @Test func `an answer that comes after the end does nothing`() {
    let controller = controller()
    queue.sync {
      _ = controller.began(RunTrigger(.start))
      controller.changed(.change("/no/a"), .running)
      controller.workEnded(isLive: false)
      controller.end()
    }
    answer(0)
    #expect(log.entries.isEmpty)
  }

  @Test func `a timer that was cancelled too late does nothing`() {
    let scheduler = ManualScheduler(honoursCancelling: false)
    let controller = RoundController(isLive: true, on: queue, scheduler: scheduler, source: nil)
    queue.sync {
      controller.deliver(to: log.note)
      for number in 0..<4 {
        _ = controller.began(RunTrigger(.change))
        let name = Path("/no/\(number)")
        controller.changed(RunTrigger(.change, changes: [.of(name, .removed)]), .live)
      }
      _ = controller.began(RunTrigger(.key))
      scheduler.advance(by: .seconds(60))
    }
    #expect(runs.count == 3)
  }

  @Test func `closing returns the owed changes and those not judged`() {
    let controller = delayedKeeper()
    let owed = queue.sync { controller.close() }
    #expect(owed.flatMap(\.changes).map(\.path) == ["/no/3"])
    #expect(scheduler.pendingCount == 0)

    let other = self.controller()
    let unjudged = queue.sync {
      _ = other.began(RunTrigger(.start))
      other.changed(.change("/no/a"), .running)
      return other.close()
    }
    #expect(unjudged == [.change("/no/a")])
    #expect(queue.sync { other.close() }.isEmpty)
  }
}
