import Dispatch
import FileObservation
import Synchronization
import Support
import SystemCalls
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
struct TaskComponentTests {
  private let queue = DispatchQueue(label: "test.rounds")
  private let scheduler = ManualScheduler()
  private let source = HeldSource()
  private let log = Log<ChangeJudge.Action>()

  private func component(
    isInterruptible: Bool = false, on scheduler: ManualScheduler? = nil,
    source: (any ChangeSource)?, inquire: @escaping TaskComponent.Inquiry = { (Set($1), [:], true) }
  ) -> TaskComponent {
    TaskComponent(
      ["a"], hasInterruptibleService: isInterruptible, on: queue,
      scheduler: scheduler ?? self.scheduler, source: source, inquire: inquire,
      deliver: { [log] in log.note($1) })
  }

  private func component() -> TaskComponent { component(source: source) }

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

  /// The paths for which runs were requested.
  private var runs: [[Path]] {
    log.entries.compactMap { if case .run(let paths) = $0 { paths } else { nil } }
  }

  private var judgedCount: Int {
    log.entries.count { if case .judged = $0 { true } else { false } }
  }

  /// One round at whose start this name is removed.
  private func round(
    _ component: TaskComponent, _ name: String, _ number: Int, lasting time: Duration = .zero
  ) {
    queue.sync {
      component.began()
      component.changed([.of(Path("/no/\(name)"), .removed)], [:], .running)
    }
    if time > .zero { advance(by: time) }
    queue.sync { component.advance { $0.workEnded(isServing: false) } }
    answer(number)
  }

  /// A component that waits for long, after fourteen rounds in which entries of one directory were removed.
  private func delayedComponent() -> TaskComponent {
    let component = self.component()
    for number in 0..<14 {
      round(component, "\(number)", number, lasting: .seconds(1 + number % 3))
    }
    return component
  }

  @Test func `the source is flushed once at the end of a round`() {
    let component = self.component()
    queue.sync { component.began() }
    #expect(source.count == 0)
    queue.sync {
      component.changed([.of("/no/a", .modified)], [:], .running)
      component.advance { $0.workEnded(isServing: false) }
      #expect(component.isFlushing)
    }
    #expect(source.count == 1 && runs.isEmpty)
    answer(0)
    #expect(runs == [["/no/a"]])
    #expect(source.count == 1)
    queue.sync { #expect(!component.isFlushing) }
  }

  @Test func `an answer counts once, and not for a round that has begun meanwhile`() {
    let component = self.component()
    queue.sync {
      component.began()
      component.advance { $0.workEnded(isServing: false) }
      component.began()
      component.changed([.of("/no/a", .modified)], [:], .running)
    }
    answer(0)
    #expect(runs.isEmpty)
    queue.sync { component.advance { $0.workEnded(isServing: false) } }
    answer(0)
    queue.sync { #expect(component.isFlushing) }
    answer(1)
    answer(1)
    #expect(runs == [["/no/a"]])
  }

  @Test func `without a source a round ends with its runs`() {
    let component = self.component(source: nil)
    queue.sync {
      component.began()
      component.changed([.of("/no/a", .modified)], [:], .running)
      component.advance { $0.workEnded(isServing: false) }
    }
    #expect(runs == [["/no/a"]])
  }

  @Test func `a follow-up begins when its delay is over, and is announced before`() {
    let component = delayedComponent()
    #expect(runs.count == 4)
    let loops = log.entries.compactMap {
      if case .announce(let loop) = $0 { loop } else { nil }
    }
    #expect(loops.map(\.path) == ["/no"])
    advance(by: .milliseconds(9_799))
    #expect(runs.count == 4 && source.count == 14)
    advance(by: .milliseconds(1))
    #expect(runs.count == 5 && source.count == 15)
    withExtendedLifetime(component) {}
  }

  @Test func `a round that begins cancels the delay and the follow-up`() {
    let component = delayedComponent()
    #expect(scheduler.pendingCount == 1)
    queue.sync {
      #expect(!component.delayedPaths.isEmpty)
      component.began()
      #expect(component.delayedPaths.isEmpty)
    }
    #expect(scheduler.pendingCount == 0)
    advance(by: .seconds(60))
    #expect(runs.count == 4)
  }

  @Test func `there is one timer, however many changes are owed`() {
    let component = delayedComponent()
    advance(by: .seconds(1))
    queue.sync {
      component.changed([.of("/no/x", .removed)], [:], .othersRunning)
    }
    #expect(scheduler.pendingCount == 1)
    advance(by: .seconds(39))
    #expect(runs.last == ["/no/13", "/no/x"])
    advance(by: .seconds(60))
    #expect(runs.count == 5)
  }

  @Test func `stopping cancels the follow-up, and settles nothing`() {
    let component = delayedComponent()
    let count = log.entries.count
    queue.sync {
      component.advance { $0.stopped() }
      #expect(component.delayedPaths.isEmpty)
    }
    #expect(log.entries.count == count)
    advance(by: .seconds(60))
    #expect(runs.count == 4)
  }

  @Test func `nothing happens after the end`() {
    let component = delayedComponent()
    queue.sync { component.end() }
    #expect(scheduler.pendingCount == 0)
    let count = log.entries.count
    queue.sync {
      component.changed([.of("/no/a", .modified)], [:], .idle)
      component.changed([.of("/no/a", .modified)], [:], .running)
      component.advance { $0.workEnded(isServing: false) }
      component.advance { $0.stopped() }
    }
    #expect(source.count == 14)
    #expect(log.entries.count == count)
  }

  @Test func `an answer that comes after the end does nothing`() {
    let component = self.component()
    queue.sync {
      component.began()
      component.changed([.of("/no/a", .modified)], [:], .running)
      component.advance { $0.workEnded(isServing: false) }
      component.end()
    }
    answer(0)
    #expect(log.entries.isEmpty)
  }

  @Test func `a timer that was cancelled too late does nothing`() {
    let scheduler = ManualScheduler(honoursCancelling: false)
    let component = self.component(isInterruptible: true, on: scheduler, source: nil)
    queue.sync {
      for number in 0..<4 {
        component.began()
        let name = Path("/no/\(number)")
        component.changed([.of(name, .removed)], [:], .interruptible)
      }
      component.began()
      scheduler.advance(by: .seconds(60))
    }
    #expect(runs.count == 3)
  }

  // MARK: Owed changes

  @Test func `the client is asked which paths are owed, and learns which are settled`() {
    let component = self.component(source: source) {
      (Set($1).subtracting(["/no/received"]), [:], true)
    }
    for number in 0..<2 {
      queue.sync {
        component.began()
        component.changed(
          [.of("/no/a", .modified), .of("/no/received", .modified)], [:], .running)
        component.advance { $0.workEnded(isServing: false) }
      }
      answer(number)
    }
    let settled = log.entries.compactMap {
      if case .settle(let paths) = $0 { paths } else { nil }
    }
    #expect(runs == [["/no/a"]])
    #expect(settled == [["/no/a"]])
  }

  /// A closure that is wrapped at each step overflows the stack in the end.
  @Test func `a component of a long session asks as directly as at first`() {
    let component = self.component()
    queue.sync {
      for _ in 0..<100_000 { component.advance { $0.stopped() } }
    }
    #expect(runs.isEmpty)
  }

  @Test func `the client is asked about the paths that are judged`() {
    let asked = Log<[Path]>()
    let component = self.component(source: source) { _, paths in
      asked.note(paths)
      return (Set(paths), [:], true)
    }
    queue.sync {
      component.began()
      component.changed([.of("/no/b", .renamed, from: "/no/a")], [:], .running)
      component.advance { $0.workEnded(isServing: false) }
    }
    answer(0)
    #expect(asked.entries.last == ["/no/a", "/no/b"])
  }

  @Test func `outputs are delivered as such`() {
    let component = self.component(isInterruptible: true, source: source)
    queue.sync {
      component.began()
      component.changed(
        [.of("/dev/null", .modified)], ["/dev/null": Verdict.run], .interruptible)
    }
    let outputs = log.entries.compactMap {
      if case .leave(let paths) = $0 { paths } else { nil }
    }
    #expect(outputs == [["/dev/null"]] && runs.isEmpty)
  }

  @Test func `a delay tells which paths it is for, and a restart soon tells that it is near`() {
    let component = self.component(isInterruptible: true, source: source)
    queue.sync {
      for number in 0..<4 {
        component.began()
        component.changed([.of(Path("/no/\(number)"), .removed)], [:], .interruptible)
      }
      #expect(component.delayedPaths == ["/no/3"])
      #expect(component.suspectsRuns)
      #expect(component.owesRestart(within: Suspicion.Rules.test.least))
      #expect(!component.owesRestart(within: Suspicion.Rules.test.least - .milliseconds(1)))
    }
  }

  // MARK: Checkpoints

  @Test func `a checkpoint flushes the source and judges the changes so far`() {
    let component = self.component()
    queue.sync {
      component.began()
      component.changed([.of("/no/a", .modified)], [:], .running)
      component.advance { $0.checkpoint() }
      #expect(component.isFlushing)
    }
    #expect(source.count == 1 && judgedCount == 0)
    answer(0)
    #expect(runs == [["/no/a"]] && judgedCount == 1)
    queue.sync { #expect(!component.isFlushing) }
  }

  @Test func `of several checkpoints the last one is answered`() {
    let component = self.component()
    queue.sync {
      component.began()
      component.advance { $0.checkpoint() }
      component.advance { $0.checkpoint() }
    }
    #expect(source.count == 2)
    answer(0)
    #expect(judgedCount == 0)
    answer(1)
    #expect(judgedCount == 1)
  }

  /// What may happen between a checkpoint and its answer.
  enum Meanwhile: CaseIterable {
    case launched, workEnded, began, stopped
  }

  @Test(arguments: Meanwhile.allCases)
  func `a checkpoint is answered, whatever happens meanwhile`(meanwhile: Meanwhile) {
    let component = self.component()
    queue.sync {
      component.began()
      component.advance { $0.checkpoint() }
      switch meanwhile {
      case .launched: component.launched()
      case .workEnded: component.advance { $0.workEnded(isServing: false) }
      case .began: component.began()
      case .stopped: component.advance { $0.stopped() }
      }
    }
    source.answerAll()
    queue.sync {}
    #expect(judgedCount == 1)
    queue.sync { #expect(!component.isFlushing) }
  }

  @Test func `the end of the work flushes again after a checkpoint`() {
    let component = self.component()
    queue.sync {
      component.began()
      component.advance { $0.checkpoint() }
      component.advance { $0.workEnded(isServing: false) }
    }
    #expect(source.count == 2)
    answer(0)
    queue.sync { #expect(component.isFlushing) }
    answer(1)
    queue.sync { #expect(!component.isFlushing) }
  }
}
