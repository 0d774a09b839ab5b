import FileObservation
import SystemCalls

/// What an action queue keeps, beside the machine that decides.
struct QueueState {
  /// A job that is under way.
  struct Current {
    let run: RunReport.Run
    let began: Instant
    var ending = RunReport.Ending.byItself
  }

  private struct Work {
    let began: Instant
    var ended: Instant?
    /// What files are stamped with that were changed from the beginning on, and before the end.
    let firstStamp = FileTime.now()
    var lastStamp: FileTime?
    /// What is noticed later than this was changed after the end. Nil if that is not known.
    var caughtUp: Instant?
  }

  /// If no more time than this is between two runs, they are one after the other.
  private static let noTime = Duration.milliseconds(20)

  var machine: ActionStateMachine
  /// What the machine has said and is not done yet, in order.
  var actions = PendingActions<ActionStateMachine.Action>()
  var timers: [ActionStateMachine.Timer: any ScheduledWork] = [:]

  private(set) var current: [Job: Current] = [:]
  private var runCount = 0
  /// The latest run of the command, and how long it took.
  private(set) var latest: (run: RunReport.Run, duration: Duration)?
  var backOff = BackOff()

  var ownOutputs = OwnOutputs()
  /// When the latest work began, and ended if it has, in which watched files may have been written:
  /// a build, the run after it and the hook; or, where the command runs on beside it, the build.
  private var work: Work?
  /// The work right before it, if nothing was in between: what is noticed at its end may be told of when
  /// the next one has begun.
  private var workBefore: Work?
  private let rules: ActionStateMachine.Rules

  init(_ rules: ActionStateMachine.Rules) {
    self.rules = rules
    machine = ActionStateMachine(rules)
  }

  /// True if the outputs of the command cannot be told from changes, since it always runs.
  private var alwaysRuns: Bool { rules.policy == .restart && !rules.hasBuild }

  /// A job begins. The run, and the outputs that turn out by it.
  mutating func begin(
    _ job: Job, _ trigger: Trigger, at now: Instant
  ) -> (run: RunReport.Run, outputs: [Path]) {
    if job == .command {
      runCount += 1
      if trigger.reason != .restart { backOff.reset() }
    }
    let number = job == .build ? runCount + 1 : runCount
    let run = RunReport.Run(job: job, number: number, trigger: trigger)
    current[job] = Current(run: run, began: now)
    if job == .command { latest = (run, .zero) }
    return (run, workBegins(job, trigger, at: now))
  }

  private mutating func workBegins(_ job: Job, _ trigger: Trigger, at now: Instant) -> [Path] {
    switch job {
    case .command where rules.hasBuild && trigger.reason != .restart:
      // It belongs to the work that its build has begun; or to none.
      if !rules.buildsBeside { workGoesOn() }
      return []
    case .build, .command:
      let duration = work.flatMap { work in work.ended.map { work.began.duration(to: $0) } }
      workBefore = work.flatMap { work in
        work.ended.map { $0.duration(to: now) < Self.noTime } ?? false ? work : nil
      }
      work = Work(began: now)
      if alwaysRuns { return [] }
      let outputs = ownOutputs.runBegins(trigger, after: duration ?? .zero)
      machine.suspects = ownOutputs.suspects
      return outputs
    case .hook:
      workGoesOn()
      return []
    }
  }

  private mutating func workGoesOn() {
    work?.ended = nil
    work?.caughtUp = nil
  }

  /// A job has ended.
  mutating func end(_ job: Job, at now: Instant) -> (Current, Duration)? {
    guard let ended = current.removeValue(forKey: job) else { return nil }
    let duration = ended.began.duration(to: now)
    if job == .command { latest = (ended.run, duration) }
    if work?.ended == nil {
      work?.ended = now
      work?.lastStamp = .latest()
    }
    return (ended, duration)
  }

  /// The observer has noticed by the end of this time all that had changed by its beginning.
  mutating func observerHasCaughtUp(_ time: ClosedRange<Instant>) {
    guard let ended = work?.ended, ended <= time.lowerBound, work?.caughtUp == nil else { return }
    work?.caughtUp = time.upperBound
  }

  mutating func isBeingEnded(_ job: Job, _ ending: RunReport.Ending) {
    current[job]?.ending = ending
  }

  /// The trigger without what the command itself has written, nil if that is all; and the paths that
  /// restart it over and over, if that is news.
  mutating func sift(
    _ trigger: Trigger, isOfLatestWork: Bool, at now: Instant
  ) -> (Trigger?, [Path]) {
    var trigger = trigger
    trigger.cameDuringRun = isOfLatestWork || isDuringWork(trigger)
    var culprits: [Path] = []
    let mayBeBuilds = rules.hasBuild && trigger.cameDuringRun
    if rules.policy == .restart, !mayBeBuilds, current[.command] != nil, trigger.reason != .key {
      culprits = ownOutputs.restarted(by: trigger, at: now)
    }
    return (alwaysRuns ? trigger : ownOutputs.sift(trigger), culprits)
  }

  /// True if the changes were noticed during the latest work, or that and the one right before it, and so
  /// were perhaps made by it.
  private func isDuringWork(_ trigger: Trigger) -> Bool {
    guard let work, let noticed = trigger.noticed,
      noticed.lowerBound >= (workBefore ?? work).began
    else { return false }
    return work.ended.map { noticed.upperBound <= $0 } ?? true
  }

  /// If the changes were noticed after the latest work, and may still have been made during it: what the
  /// files are stamped with then.
  func stampsOfLatestWork(near trigger: Trigger) -> ClosedRange<FileTime>? {
    guard let work, let ended = work.ended, let last = work.lastStamp,
      let noticed = trigger.noticed, noticed.lowerBound >= (workBefore ?? work).began,
      noticed.upperBound > ended
    else { return nil }
    // The kernel tells of a change before it tells of the end of who made it, but to another queue. Where
    // one looks from time to time, it may be noticed much later.
    if let caughtUp = work.caughtUp, noticed.upperBound > caughtUp { return nil }
    return (workBefore ?? work).firstStamp...max(last, work.firstStamp)
  }
}
