import Dispatch
import FileObservation
import Support
import Synchronization

/// Performs what `Rounds` decides, on the queue of what is run: reads contents, waits, and asks the
/// source for what changed up to now.
final class RoundController: Sendable {
  /// What leaves the keeper.
  enum Event: Sendable {
    /// Begin a round.
    case run(RunTrigger)
    /// Tell the next round of these changes.
    case keep(RunTrigger)
    case found(FeedbackLoop)
    /// What changed during the round has been judged.
    case judged
  }

  private struct State {
    var rounds: Rounds
    /// Not kept alive: its handler usually holds the queue.
    weak var source: (any ChangeSource)?
    var timer: (any ScheduledWork)?
    /// Whether nothing follows from changes any more.
    var isOver = false
    var flush: Flush?
    var flushCount = 0
  }

  /// A question to the source that has not been used.
  private struct Flush {
    let number: Int
    var isAnswered = false
    /// The generation with which the rounds wait for the answer.
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

  /// Sets who receives the events. Called on the queue.
  func deliver(to receiver: @escaping @Sendable (Event) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  private func deliver(_ event: Event) {
    receiver.withLock { $0 }?(event)
  }

  /// How many follow-ups in a row led to the present round.
  var depth: Int { state.access { $0.rounds.depth } }

  /// Whether the runs of a round are over, and what changed up to now is being read.
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

  /// A run begins that opens a round. What it must be told.
  func began(_ trigger: RunTrigger) -> RunTrigger {
    let now = scheduler.now
    let (all, timer) = state.access { state in
      defer { (state.timer, state.flush) = (nil, nil) }
      return (state.rounds.began(trigger, at: now, reading: reader.contents), state.timer)
    }
    timer?.cancel()
    return all
  }

  /// A further run of the present round begins.
  func launched() {
    let now = scheduler.now
    state.access { state in
      state.flush = nil
      state.rounds.launched(at: now)
    }
  }

  /// A run has ended, and with it probably the work. Asking the source at once keeps small the time in
  /// which a change by others is taken for one of the run's.
  func runEnded() {
    if let source = state.access({ $0.source }) { ask(source) }
  }

  /// Nothing is under way any more that ends by itself.
  ///
  /// - Parameters:
  ///   - isLive: Whether something still runs that belongs to the round.
  ///   - ignoresChanges: Whether what changed during the last run leads to nothing.
  func workEnded(isLive: Bool, ignoresChanges: Bool = false) {
    advance { rounds, _ in
      rounds.workEnded(isLive: isLive, ignoresChanges: ignoresChanges)
    }
  }

  /// A person stops what is under way.
  func stopped() {
    advance { rounds, _ in rounds.stopped() }
  }

  /// A person wants runs again before the stopped round has ended.
  func resumed() {
    state.access { $0.rounds.resumed() }
  }

  /// Ends for good. What is still owed a run, or has not been judged.
  func close() -> [RunTrigger] {
    defer { end() }
    return state.access { $0.rounds.stopped() }.compactMap { action in
      if case .keep(let trigger) = action { trigger } else { nil }
    }
  }

  /// Nothing follows from changes any more.
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
  /// Puts in another value. The one before.
  fileprivate mutating func updateValue(_ value: Wrapped) -> Wrapped? {
    defer { self = value }
    return self
  }
}
