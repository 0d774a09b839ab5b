import FileObservation
import Support
import SystemCalls

/// What an action queue keeps, beside the machine that decides.
struct QueueState {
  /// A job that is under way.
  struct Current {
    let run: RunReport.Run
    let began: Instant
    var ending = RunReport.Ending.byItself
  }

  /// What is under way, as far as rounds are concerned.
  enum Work: Hashable {
    case none
    /// A command that a change stops or signals.
    case live
    /// Work whose end is awaited.
    case finite
  }

  var machine: ActionStateMachine
  /// The machine's actions that have not been performed yet, in order.
  var actions = PendingActions<ActionStateMachine.Action>()
  var timers: [ActionStateMachine.Timer: any ScheduledWork] = [:]

  /// Whether the output of the next run is read.
  var readsOutput: Bool
  /// The readers of the output of the jobs that run.
  var readers: [ActionQueue.Job: OutputReader] = [:]
  private(set) var current: [ActionQueue.Job: Current] = [:]
  private var runCount = 0
  /// The latest run of the command, and how long it took.
  private(set) var latest: (run: RunReport.Run, duration: Duration)?
  var backOff = BackOff()
  private(set) var latestJob = ActionQueue.Job.command
  /// Whether it was reported that work is settled.
  var isSettled = true
  /// Whether nothing was under way or due when that was last examined.
  var isIdle = true
  /// The work when the machine last took a step.
  var work = Work.none

  init(_ options: ActionQueue.Options) {
    machine = ActionStateMachine(options.rules)
    readsOutput = options.readsOutput
  }

  /// A job begins.
  mutating func begin(_ job: ActionQueue.Job, _ trigger: RunTrigger, at now: Instant)
    -> RunReport.Run
  {
    if job == .command {
      runCount += 1
      if trigger.reason != .restart { backOff.reset() }
    }
    latestJob = job
    let number = job == .build ? runCount + 1 : runCount
    let run = RunReport.Run(job: job, number: number, trigger: trigger)
    current[job] = Current(run: run, began: now)
    if job == .command { latest = (run, .zero) }
    return run
  }

  /// A job has ended.
  mutating func end(_ job: ActionQueue.Job, at now: Instant) -> (Current, Duration)? {
    guard let ended = current.removeValue(forKey: job) else { return nil }
    let duration = ended.began.duration(to: now)
    if job == .command { latest = (ended.run, duration) }
    return (ended, duration)
  }

  mutating func isBeingEnded(_ job: ActionQueue.Job, _ ending: RunReport.Ending) {
    current[job]?.ending = ending
  }
}
