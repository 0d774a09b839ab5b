import Dispatch
import FileObservation
import Support
import Synchronization

/// Performs the actions of `Rounds` on the queue: reads contents, waits, and flushes the source.
final class RoundController: Sendable {
  /// A decision of the rounds.
  enum Event: Sendable {
    /// Begin a round.
    case run(RunTrigger)
    /// Add these changes to the next round.
    case keep(RunTrigger)
    case found(FeedbackLoop)
    /// The changes of the round have been judged.
    case judged
  }

  private struct State {
    var rounds: Rounds
    /// Not retained: its handler usually retains the queue.
    weak var source: (any ChangeSource)?
    var timer: (any ScheduledWork)?
    /// Whether changes no longer lead to rounds.
    var isOver = false
    var flush: Flush?
    var flushCount = 0
  }

  /// A flush of the source whose result has not been used.
  private struct Flush {
    let number: Int
    var isAnswered = false
    /// The generation of the rounds that wait for it.
    var generation: Int?
  }

  private let state: Confined<State>
  private let queue: DispatchQueue
  private let scheduler: any Scheduler
  private let receiver = Mutex<(@Sendable (Event) -> Void)?>(nil)
  private let reader = ContentReader()

  /// - Parameters:
  ///   - isLive: Whether a change stops or signals the run that is under way.
  ///   - source: Asked for what changed during a round. Without one, a round ends with its runs.
  init(
    isLive: Bool = false, on queue: DispatchQueue, scheduler: any Scheduler,
    source: (any ChangeSource)?
  ) {
    self.queue = queue
    self.scheduler = scheduler
    state = Confined(
      State(rounds: Rounds(isLive: isLive), source: source), to: queue)
  }

  /// Sets the receiver of events, which is called on the queue.
  func deliver(to receiver: @escaping @Sendable (Event) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  private func deliver(_ event: Event) {
    receiver.withLock { $0 }?(event)
  }

  /// The number of consecutive follow-ups that led to the present round.
  var depth: Int { state.access { $0.rounds.depth } }

  /// Whether the runs have ended and their changes are being read.
  var isReading: Bool { state.access { $0.rounds.isReading } }

  /// Whether a run is due, now or after a delay.
  var owesRun: Bool { state.access { $0.rounds.debt != nil } }

  /// Whether all the changes may be the output of the command, which wrote the same paths in the round before.
  func mayBeOwnOutput(_ trigger: RunTrigger) -> Bool {
    state.access { state in
      trigger.changes.allSatisfy { state.rounds.known[$0.path] != nil }
    }
  }

  func changed(_ trigger: RunTrigger, _ situation: Rounds.Situation) {
    advance { rounds, now in
      rounds.changed(trigger, situation, at: now, reading: reader.contents)
    }
  }

  /// Begins a round, and returns its trigger with all that is owed a run.
  func began(_ trigger: RunTrigger) -> RunTrigger {
    let now = scheduler.now
    let (all, timer) = state.access { state in
      defer { (state.timer, state.flush) = (nil, nil) }
      return (state.rounds.began(trigger, at: now, reading: reader.contents), state.timer)
    }
    timer?.cancel()
    return all
  }

  /// Another run of the round begins.
  func launched() {
    let now = scheduler.now
    state.access { state in
      state.flush = nil
      state.rounds.launched(at: now)
    }
  }

  /// A run has ended, and probably the work of the round. An early flush shortens the time in which
  /// a change by others is attributed to the run.
  func runEnded() {
    if let source = state.access({ $0.source }) { ask(source) }
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameters:
  ///   - isLive: Whether a run of the round is still active.
  ///   - ignoresChanges: Whether changes during the last run are ignored.
  func workEnded(isLive: Bool, ignoresChanges: Bool = false) {
    advance { rounds, _ in
      rounds.workEnded(isLive: isLive, ignoresChanges: ignoresChanges)
    }
  }

  /// The user stops the runs.
  func stopped() {
    advance { rounds, _ in rounds.stopped() }
  }

  /// The user requests runs before the stopped round has ended.
  func resumed() {
    state.access { $0.rounds.resumed() }
  }

  /// Ends for good. Returns the changes that are owed a run or were not judged.
  func close() -> [RunTrigger] {
    defer { end() }
    return state.access { $0.rounds.stopped() }.compactMap { action in
      if case .keep(let trigger) = action { trigger } else { nil }
    }
  }

  /// Ends for good.
  func end() {
    let timer = state.access { state in
      state.isOver = true
      return state.timer
    }
    timer?.cancel()
  }

  private func advance(_ step: (inout Rounds, Instant) -> [Rounds.Action]) {
    let now = scheduler.now
    let actions = state.access { $0.isOver ? [] : step(&$0.rounds, now) }
    for action in actions { perform(action) }
  }

  private func perform(_ action: Rounds.Action) {
    switch action {
    case .run(let trigger): deliver(.run(trigger))
    case .keep(let trigger): deliver(.keep(trigger))
    case .announce(let loop): deliver(.found(loop))
    case .read(let generation): read(generation)
    case .wait(let time, let generation):
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.advance { rounds, _ in rounds.elapsed(generation: generation) }
      }
      state.access { $0.timer.updateValue(timer) }?.cancel()
    }
  }

  private func read(_ generation: Int) {
    guard let source = state.access({ $0.source }) else { return hasRead(generation) }
    if state.access({ $0.flush == nil }) { ask(source) }
    let isAnswered = state.access { state in
      state.flush?.generation = generation
      return state.flush?.isAnswered ?? false
    }
    if isAnswered { useAnswer() }
  }

  private func ask(_ source: any ChangeSource) {
    let number = state.access { state in
      state.flushCount += 1
      state.flush = Flush(number: state.flushCount)
      return state.flushCount
    }
    source.flush { [weak self, queue] in
      queue.async { [weak self] in self?.answered(number) }
    }
  }

  private func answered(_ number: Int) {
    let isAwaited = state.access { state in
      guard state.flush?.number == number else { return false }
      state.flush?.isAnswered = true
      return state.flush?.generation != nil
    }
    if isAwaited { useAnswer() }
  }

  private func useAnswer() {
    let generation = state.access { state in
      defer { state.flush = nil }
      return state.flush?.generation
    }
    if let generation { hasRead(generation) }
  }

  private func hasRead(_ generation: Int) {
    advance { rounds, now in
      rounds.hasRead(generation: generation, at: now, reading: reader.contents)
    }
    if !state.access({ $0.isOver }) { deliver(.judged) }
  }
}

extension Optional {
  /// Replaces the value, and returns the old one.
  fileprivate mutating func updateValue(_ value: Wrapped) -> Wrapped? {
    defer { self = value }
    return self
  }
}
