import Dispatch
import FileObservation
import Support
import Synchronization
import SystemCalls

/// Performs the actions of `Rounds` on the queue: reads contents, waits, and flushes the source.
final class RoundController: Sendable {
  /// A decision of the rounds.
  enum Event: Sendable {
    /// Request runs of the tasks that are owed the changes of these paths.
    case run([Path])
    /// Nothing is owed for these paths.
    case forgive([Path])
    /// Nothing is owed for these outputs to the tasks that have run.
    case absorb([Path])
    case found(FeedbackLoop)
    case foundOutputs([Path])
    case judgments([ChangeJudgment])
    /// A reading has ended, and its changes have been judged.
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
    var lookTimer: (any ScheduledWork)?
    var lookCount = 0

    /// Drops a flush for which no reading waits, because more may have changed since. Another one
    /// remains for its reading only.
    mutating func outdateFlush() {
      if flush?.generation == nil { flush = nil } else { flush?.isUpToDate = false }
    }
  }

  /// A flush of the source whose answer has not been used.
  private struct Flush {
    let number: Int
    var isAnswered = false
    /// The generation of the reading that waits for it.
    var generation: Int?
    /// Whether it began when a run ended, and no run has begun since.
    var isUpToDate: Bool
  }

  /// What the rounds ask of the runner. All of it is called on the queue, and must not call the
  /// controller.
  struct Client: Sendable {
    /// Whether the change of a path is still owed to a task.
    var isOwed: @Sendable (Path) -> Bool = { _ in true }
    /// The activity of the runs that a change restarts or signals; `nil` if the kernel tells nothing.
    var activity: @Sendable () -> ProcessActivity? = { nil }
    /// Those of the paths that these runs have open for writing.
    var filesOpenForWriting: @Sendable ([Path]) -> Set<Path> = { _ in [] }
    /// How the latest runs have ended.
    var results: @Sendable () -> [String: ExitStatus] = { [:] }
    /// Whether only tasks have run that depend on each other.
    var hasOneWriter: @Sendable () -> Bool = { true }
  }

  private let state: Confined<State>
  private let evidence: EvidenceCollector
  private let queue: DispatchQueue
  private let scheduler: any Scheduler
  private let client = Mutex<(Client, @Sendable (Event) -> Void)?>(nil)
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
    state = Confined(State(rounds: Rounds(isLive: isLive), source: source), to: queue)
    evidence = EvidenceCollector(on: queue)
  }

  /// Sets who is asked, and who receives events, on the queue.
  func connect(_ client: Client, deliver: @escaping @Sendable (Event) -> Void) {
    self.client.withLock { $0 = (client, deliver) }
  }

  private func deliver(_ event: Event) {
    client.withLock { $0 }?.1(event)
  }

  /// The number of consecutive follow-ups that led to the present round.
  var depth: Int { state.access { $0.rounds.depth } }

  /// Whether the source is being flushed, after which the changes are judged.
  var isReading: Bool { state.access { $0.rounds.isReading } }

  /// Whether a follow-up is due, now or after a delay.
  var owesRun: Bool { state.access { $0.rounds.owesRun } }

  /// Whether an active run will be restarted after a delay.
  var owesRestart: Bool { state.access { $0.rounds.isLive && $0.rounds.owesRun } }

  /// Whether all of these paths changed in the round before as well, so that they may be outputs.
  func mayBeOutputs(_ changes: [ChangeBatch.Change]) -> Bool {
    state.access { $0.rounds.mayBeOutputs(changes) }
  }

  func changed(_ changes: [ChangeBatch.Change], _ situation: Rounds.Situation) {
    advance { rounds, now, facts in rounds.changed(changes, situation, at: now, facts) }
  }

  /// Begins a round. Its first run receives all changes that no run has received.
  ///
  /// - Parameter isFollowUp: Whether changes led to the round, and not a key or a restart.
  func began(isFollowUp: Bool) {
    let (now, facts) = (scheduler.now, facts)
    let timer = state.access { state in
      state.rounds.began(isFollowUp: isFollowUp, at: now, facts)
      state.outdateFlush()
      return state.timer.take()
    }
    timer?.cancel()
    beginLooking()
  }

  /// Another run of the round begins.
  func launched() {
    let now = scheduler.now
    state.access { state in
      state.outdateFlush()
      state.rounds.launched(at: now)
    }
    beginLooking()
  }

  /// A run has ended, and probably the work of the round. An early flush shortens the time in which
  /// a change by others is attributed to the run.
  func runEnded() {
    if let source = state.access({ $0.source }) { flush(source, isUpToDate: true) }
  }

  /// All work that ends by itself has ended.
  ///
  /// - Parameter isLive: Whether a run of the round is still active.
  func workEnded(isLive: Bool) {
    if !isLive { state.access { $0.lookTimer.take() }?.cancel() }
    advance { rounds, _, _ in rounds.workEnded(isLive: isLive) }
  }

  /// Judges the changes so far in the middle of a round, before a dependent task starts. Then
  /// `judged` is delivered, also if another reading is under way or a round begins meanwhile.
  func checkpoint() {
    advance { rounds, _, _ in rounds.checkpoint() }
  }

  /// The user stops the runs.
  func stopped() {
    advance { rounds, _, _ in rounds.stopped() }
  }

  /// The user requests runs before the stopped round has ended.
  func resumed() {
    state.access { $0.rounds.resumed() }
  }

  /// Ends for good.
  func end() {
    let timers = state.access { state in
      state.isOver = true
      return [state.timer, state.lookTimer]
    }
    for timer in timers { timer?.cancel() }
  }

  private func advance(_ step: (inout Rounds, Instant, Rounds.Facts) -> [Rounds.Action]) {
    let (now, facts) = (scheduler.now, facts)
    let actions = state.access { $0.isOver ? [] : step(&$0.rounds, now, facts) }
    for action in actions { perform(action) }
  }

  private var facts: Rounds.Facts {
    let client = client.withLock { $0 }?.0 ?? Client()
    return Rounds.Facts(
      isOwed: client.isOwed, contents: reader.contents,
      clues: { [evidence] in evidence.clues(to: $0, client) }, results: client.results,
      isSteady: { [evidence] in evidence.isSteady }, hasOneWriter: client.hasOneWriter)
  }

  private func perform(_ action: Rounds.Action) {
    switch action {
    case .run(let paths): deliver(.run(paths))
    case .forgive(let paths): deliver(.forgive(paths))
    case .absorb(let paths): deliver(.absorb(paths))
    case .announceOutputs(let paths): deliver(.foundOutputs(paths))
    case .explain(let judgments): deliver(.judgments(judgments))
    case .announce(let loop): deliver(.found(loop))
    case .read(let generation): read(generation)
    case .wait(let time, let generation):
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.elapsed(generation)
      }
      state.access { $0.timer.updateValue(timer) }?.cancel()
    }
  }

  private func elapsed(_ generation: Int) {
    state.access { $0.outdateFlush() }
    advance { rounds, _, _ in rounds.elapsed(generation: generation) }
  }

  // MARK: Flushes

  private func read(_ generation: Int) {
    guard let source = state.access({ $0.source }) else { return hasRead(generation) }
    if state.access({ $0.flush?.isUpToDate != true }) { flush(source, isUpToDate: false) }
    let isAnswered = state.access { state in
      state.flush?.generation = generation
      return state.flush?.isAnswered ?? false
    }
    if isAnswered { useAnswer() }
  }

  /// Flushes the source, also for a reading that waits for an earlier flush.
  private func flush(_ source: any ChangeSource, isUpToDate: Bool) {
    let number = state.access { state in
      state.flushCount += 1
      state.flush = Flush(
        number: state.flushCount, generation: state.flush?.generation, isUpToDate: isUpToDate)
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
    advance { rounds, now, facts in rounds.hasRead(generation: generation, at: now, facts) }
    if !state.access({ $0.isOver }) { deliver(.judged) }
  }
}

// MARK: - Looks at the processes of the active run

extension RoundController {
  /// A run begins, whose processes are looked at.
  private func beginLooking() {
    evidence.runBegan(client.withLock { $0 }?.0.activity())
    state.access { $0.lookCount = 0 }
    scheduleLook()
  }

  private func scheduleLook() {
    let now = scheduler.now
    let pause = state.access { state in
      state.isOver ? nil : state.rounds.pauseBeforeLook(state.lookCount, at: now)
    }
    let timer = pause.map { pause in
      scheduler.schedule(at: now.advanced(by: pause)) { [weak self] in self?.look() }
    }
    state.access { state in
      defer { state.lookTimer = timer }
      return state.lookTimer
    }?.cancel()
  }

  private func look() {
    guard let activity = client.withLock({ $0 })?.0.activity() else { return }
    evidence.add(activity)
    state.access { $0.lookCount += 1 }
    scheduleLook()
  }
}

extension Optional {
  /// Replaces the value, and returns the old one.
  fileprivate mutating func updateValue(_ value: Wrapped) -> Wrapped? {
    defer { self = value }
    return self
  }
}
