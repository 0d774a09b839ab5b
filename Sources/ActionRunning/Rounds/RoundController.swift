import Dispatch
import FileObservation
import Support
import Synchronization
import SystemCalls

/// Performs the actions of `ChangeJudge` on the queue: reads contents, waits, and flushes the source. Its members
/// tell the present state of the rounds.
@dynamicMemberLookup
final class RoundController: Sendable {
  enum Event: Sendable {
    /// Perform this decision, which is neither a flush nor a wait.
    case decision(ChangeJudge.Action)
    /// A flush has ended, and its changes have been judged.
    case judged
    /// The next start is delayed by so much, as a test: what follows a start of others by way of this one is late by it.
    case tested(Duration)
  }

  /// What the runner knows of these paths.
  typealias Inquiry =
    @Sendable (_ paths: [Path]) -> (
      owed: Set<Path>, results: [String: ExitStatus], hasOneWriter: Bool
    )

  private struct State {
    var judge: ChangeJudge
    /// Not retained: its handler usually retains the queue.
    weak var source: (any ChangeSource)?
    var timer: (any ScheduledWork)?
    /// The start of which it was told that it is tested.
    var tested: Instant?
    /// Whether changes no longer lead to rounds.
    var isOver = false
  }

  /// Who is asked, and who receives events. A tuple of closures would not do: each access to a generic
  /// container wraps them once more, so that they grow without end.
  private struct Client {
    let inquire: Inquiry
    let isBuilding: @Sendable () -> Bool
    let deliver: @Sendable (Event) -> Void
  }

  private let state: Confined<State>
  private let queue: DispatchQueue
  private let scheduler: any Scheduler
  private let client = Mutex<Client?>(nil)
  private let reader = ContentReader()

  /// - Parameters:
  ///   - hasInterruptibleService: Whether a change stops or signals the run that is under way.
  ///   - formers: The rounds of the tasks that these replace, as `ChangeJudge` knows them.
  ///   - source: Asked for what changed during a round. Without one, a round ends with its runs.
  init(
    hasInterruptibleService: Bool = false, replacing formers: [RoundController] = [],
    on queue: DispatchQueue, scheduler: any Scheduler, source: (any ChangeSource)?
  ) {
    self.queue = queue
    self.scheduler = scheduler
    let judge = ChangeJudge(
      hasInterruptibleService: hasInterruptibleService,
      replacing: formers.map { $0.state.access(\.judge) })
    // What those delay has been told.
    state = Confined(State(judge: judge, source: source, tested: judge.due), to: queue)
  }

  /// Sets who is asked, before each judgment, and who receives events, on the queue.
  ///
  /// - Parameter isBuilding: Whether a build works in a service, and has done something since this was asked the last
  ///   time. Asked while it is awaited that it ends.
  func connect(
    _ inquire: @escaping Inquiry, isBuilding: @escaping @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (Event) -> Void
  ) {
    client.withLock { $0 = Client(inquire: inquire, isBuilding: isBuilding, deliver: deliver) }
  }

  private func deliver(_ event: Event) {
    client.withLock { $0?.deliver }?(event)
  }

  subscript<Value>(dynamicMember member: KeyPath<ChangeJudge, Value>) -> Value {
    state.access { $0.judge[keyPath: member] }
  }

  func areProbablyOfRuns(_ changes: [ChangeBatch.Change]) -> Bool {
    state.access { $0.judge.areProbablyOfRuns(changes) }
  }

  /// Whether an active run will be restarted within this time.
  func owesRestart(within time: Duration) -> Bool {
    let end = scheduler.now.advanced(by: time)
    return self.hasInterruptibleService && self.followUp.map { $0.due <= end } ?? false
  }

  /// - Parameter time: When the burst of the changes began, if that is known.
  func changed(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict],
    _ situation: ChangeJudge.Situation, burst time: Instant? = nil
  ) {
    let now = scheduler.now
    let paths = state.access { state in
      if situation == .building || situation == .running {
        return state.judge.pathsToCompare(changes, evidence, inBuild: situation == .building)
      }
      let isJudged =
        situation.judgesAtOnce
        || situation == .idle && state.judge.mayHaveEchoes(evidence, at: now)
      return isJudged && !state.judge.isFlushing ? state.judge.pathsToRead(changes) : []
    }
    advance(paths) { judge, now, knowledge in
      judge.changed(changes, evidence, situation, at: now, burst: time, knowledge)
    }
  }

  /// Begins a round. Its first run receives all changes that no run has received.
  ///
  /// - Parameter isComplete: Whether what the runs before have changed has been received.
  func began(isComplete: Bool = true) {
    let files = FileTime.now()
    advance { judge, now, _ in
      judge.began(at: now, files: files, isComplete: isComplete)
      return []
    }
  }

  /// A run of the round starts, which has received what it was owed.
  ///
  /// - Parameter isOnlyReader: Whether no other task watches the paths.
  func launched(isOnlyReader: Bool = true) {
    let files = FileTime.now()
    advance(state.access { $0.judge.pathsToReadAtStart }) { judge, now, knowledge in
      judge.launched(at: now, files: files, knowledge, isOnlyReader: isOnlyReader)
      return []
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

  /// Takes a step that needs to know nothing.
  func advance(_ step: (inout ChangeJudge) -> [ChangeJudge.Action]) {
    advance { judge, _, _ in step(&judge) }
  }

  /// Takes a step, with what is known of these paths, or nothing.
  func advance(
    _ paths: [(path: Path, isMovedAsWhole: Bool)]? = nil,
    _ step: (inout ChangeJudge, Instant, ChangeJudge.Knowledge) -> [ChangeJudge.Action]
  ) {
    let knowledge = paths.map(self.knowledge(of:)) ?? ChangeJudge.Knowledge()
    let now = scheduler.now
    let actions = state.access { $0.isOver ? [] : step(&$0.judge, now, knowledge) }
    for action in actions { perform(action) }
    // A timer for which nothing waits any more.
    state.access { state in
      state.judge.owesRun || state.judge.awaitsBuild ? nil : state.timer.take()
    }?.cancel()
  }

  private func knowledge(
    of paths: [(path: Path, isMovedAsWhole: Bool)]
  ) -> ChangeJudge.Knowledge {
    var knowledge = ChangeJudge.Knowledge()
    if let inquire = client.withLock({ $0?.inquire }) {
      (knowledge.owed, knowledge.results, knowledge.hasOneWriter) = inquire(
        paths.map(\.path) + self.delayedPaths)
    }
    knowledge.files = reader.states(of: paths)
    return knowledge
  }

  private func perform(_ action: ChangeJudge.Action) {
    switch action {
    case .run, .settle, .setAside, .leave, .announceOutputs, .announceOwed, .explain, .announce:
      deliver(.decision(action))
    case .flush(let generation): flush(for: generation)
    case .wait(let time, let generation):
      let test = state.access { state -> Duration? in
        guard time == state.judge.followUp?.due, time != state.tested else { return nil }
        state.tested = time
        return scheduler.now.duration(to: time)
      }
      if let test, test <= Suspicion.Rules.test.most { deliver(.tested(test)) }
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.elapsed(generation)
      }
      state.access { exchange(&$0.timer, with: timer) }?.cancel()
    }
  }

  private func elapsed(_ generation: Int) {
    advance { judge, _, _ in judge.elapsed(generation: generation) }
  }

  // MARK: Flushes

  private func flush(for generation: Int) {
    guard let source = state.access({ $0.source }) else { return hasFlushed(generation) }
    source.flush { [weak self, queue] in
      queue.async { [weak self] in self?.hasFlushed(generation) }
    }
  }

  private func hasFlushed(_ generation: Int) {
    // An outdated answer leads to nothing.
    let paths = state.access { $0.judge.generation == generation ? $0.judge.pathsToRead() : [] }
    let isBuilding = self.awaitsBuild ? client.withLock { $0?.isBuilding }?() ?? false : false
    advance(paths) { judge, now, knowledge in
      var knowledge = knowledge
      knowledge.isBuilding = isBuilding
      return judge.hasFlushed(generation: generation, at: now, knowledge)
    }
    // Also for what waits since before another round began; otherwise the next answer is awaited.
    if !state.access({ $0.isOver || $0.judge.isFlushing }) { deliver(.judged) }
  }
}
