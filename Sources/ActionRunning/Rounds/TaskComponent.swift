import Dispatch
import FileObservation
import Support
import SystemCalls

/// A connected component of the graph. Its work is one round, beside those of other components. Performs the actions of
/// `ChangeJudge` on the queue: reads contents, waits, and flushes the source. Its members tell the present state.
@dynamicMemberLookup
final class TaskComponent: Sendable {
  /// What the runner knows of these paths.
  typealias Inquiry =
    @Sendable (TaskComponent, _ paths: [Path]) -> (
      owed: Set<Path>, results: [String: ExitStatus], hasOneWriter: Bool
    )

  struct State {
    var judge: ChangeJudge
    /// Not retained: its handler usually retains the queue.
    weak var source: (any ChangeSource)?
    var timer: (any ScheduledWork)?
    /// The start of which it was told that it is tested.
    var tested: Instant?
    /// Whether changes no longer lead to rounds.
    var isOver = false
    /// Whether runs that end by themselves were active since the changes were last judged.
    var hasWorked = false
    /// The tasks whose policy is to ignore changes, and that ran since the changes were last judged.
    var ignoring: Set<String> = []
    /// Those of them that have ended, and for which the judgment waits.
    var haveIgnored: Set<String> = []
    /// The tasks that have run in the present round.
    var ran: Set<String> = []
    var awaitingBurstEnd: Decisions?
    /// What the processes of services in which builds work had done at the latest look.
    var buildActivity: [String: ProcessActivity] = [:]
  }

  /// What the rounds have decided and waits for the end of the burst, so that the run receives all of it.
  struct Decisions {
    var paths: Set<Path> = []
    /// Whether the changes have been judged, which is passed on after the request.
    var isJudged = false
  }

  let names: Set<String>
  /// The same, each after those that it depends on.
  let order: [String]
  private let state: Confined<State>
  private let queue: DispatchQueue
  private let scheduler: any Scheduler
  private let reader = ContentReader()
  // Each by itself: a tuple of closures would be wrapped once more at each access, and grow without end.
  private let inquire: Inquiry
  private let isBuilding: @Sendable (TaskComponent) -> Bool
  private let deliver: @Sendable (TaskComponent, ChangeJudge.Action) -> Void

  /// - Parameters:
  ///   - order: The tasks, each after those that it depends on.
  ///   - hasInterruptibleService: Whether a change stops or signals the run that is under way.
  ///   - formers: The components with some of these tasks before.
  ///   - kept: The tasks whose definitions are the same.
  ///   - source: Asked for what changed during a round. Without one, a round ends with its runs.
  ///   - inquire: Asked before each judgment.
  ///   - isBuilding: Whether a build works in a service, and has done something since this was asked the last
  ///     time. Asked while it is awaited that it ends.
  ///   - deliver: Receives the actions that are neither a flush nor a wait, on the queue.
  init(
    _ order: [String], hasInterruptibleService: Bool = false,
    replacing formers: [TaskComponent] = [],
    keeping kept: Set<String> = [], on queue: DispatchQueue, scheduler: any Scheduler,
    source: (any ChangeSource)?, inquire: @escaping Inquiry,
    isBuilding: @escaping @Sendable (TaskComponent) -> Bool = { _ in false },
    deliver: @escaping @Sendable (TaskComponent, ChangeJudge.Action) -> Void
  ) {
    (self.order, names, self.queue, self.scheduler) = (order, Set(order), queue, scheduler)
    (self.inquire, self.isBuilding, self.deliver) = (inquire, isBuilding, deliver)
    let judge = ChangeJudge(
      hasInterruptibleService: hasInterruptibleService,
      replacing: formers.map { $0.state.access(\.judge) })
    // What those delay has been told.
    var state = State(judge: judge, source: source, tested: judge.due)
    state.takeOver(formers.map { $0.state.access(\.self) }, names.intersection(kept))
    self.state = Confined(state, to: queue)
  }

  subscript<Value>(dynamicMember member: KeyPath<ChangeJudge, Value>) -> Value {
    state.access { $0.judge[keyPath: member] }
  }

  func areProbablyOfRuns(_ changes: [ChangeBatch.Change]) -> Bool {
    state.access { $0.judge.areProbablyOfRuns(changes) }
  }

  subscript<Value>(dynamicMember member: WritableKeyPath<State, Value>) -> Value {
    get { state.access { $0[keyPath: member] } }
    set { state.access { $0[keyPath: member] = newValue } }
  }

  /// The paths that require runs, after a delay or the end of the burst.
  var duePaths: [Path] { self.delayedPaths + (self.awaitingBurstEnd?.paths ?? []) }

  /// Whether there are such paths, which may be those of a checkout.
  var isRunDue: Bool { self.owesRun || self.awaitingBurstEnd?.paths.isEmpty == false }

  /// Drops the request that waits, because another run receives its changes or the user stops the runs.
  func dropRequest() {
    self.awaitingBurstEnd =
      self.awaitingBurstEnd?.isJudged == true ? Decisions(isJudged: true) : nil
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
    advance { judge, now, _ in
      judge.began(at: now, files: .latest(), isComplete: isComplete)
      return []
    }
  }

  /// A run of the round starts, which has received what it was owed.
  ///
  /// - Parameter isOnlyReader: Whether no other task watches the paths.
  func launched(isOnlyReader: Bool = true) {
    advance(state.access { $0.judge.pathsToReadAtStart }) { judge, now, knowledge in
      // After the paths were read, and later than the times of files that were written before.
      judge.launched(at: now, files: .latest(), knowledge, isOnlyReader: isOnlyReader)
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
    (knowledge.owed, knowledge.results, knowledge.hasOneWriter) = inquire(
      self, paths.map(\.path) + self.delayedPaths)
    knowledge.files = reader.states(of: paths)
    return knowledge
  }

  private func perform(_ action: ChangeJudge.Action) {
    switch action {
    case .run, .settle, .setAside, .leave, .announceOutputs, .announceOwed, .stopBuilds, .explain,
      .announce, .tested, .judged:
      deliver(self, action)
    case .flush(let generation): flush(for: generation)
    case .wait(let time, let generation):
      let test = state.access { state -> Duration? in
        guard time == state.judge.followUp?.due, time != state.tested else { return nil }
        state.tested = time
        return scheduler.now.duration(to: time)
      }
      if let test, test <= Suspicion.Rules.test.most { deliver(self, .tested(test)) }
      let timer = scheduler.schedule(at: time) { [weak self] in
        self?.advance { $0.elapsed(generation: generation) }
      }
      state.access { exchange(&$0.timer, with: timer) }?.cancel()
    }
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
    let isBuilding = self.awaitsBuild && self.isBuilding(self)
    advance(paths) { judge, now, knowledge in
      var knowledge = knowledge
      knowledge.isBuilding = isBuilding
      return judge.hasFlushed(generation: generation, at: now, knowledge)
    }
    // Also for what waits since before another round began; otherwise the next answer is awaited.
    if !state.access({ $0.isOver || $0.judge.isFlushing }) { deliver(self, .judged) }
  }
}

extension TaskComponent.State {
  /// Goes on where these were, whose tasks have been replaced but for those that are kept.
  fileprivate mutating func takeOver(_ formers: [Self], _ kept: Set<String>) {
    for former in formers {
      hasWorked = hasWorked || former.hasWorked
      ignoring.formUnion(former.ignoring.intersection(kept))
      ran.formUnion(former.ran.intersection(kept))
      guard let decisions = former.awaitingBurstEnd else { continue }
      let paths = decisions.paths.union(awaitingBurstEnd?.paths ?? [])
      awaitingBurstEnd = .init(paths: paths, isJudged: true)
    }
    // What was not judged is, when nothing works. While it is awaited that a build ends, nothing else is.
    hasWorked = hasWorked || judge.isFlushing || !judge.unjudged.isEmpty && !judge.awaitsBuild
  }
}
