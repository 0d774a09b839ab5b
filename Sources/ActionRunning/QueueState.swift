import FileObservation
import Support
import SystemCalls

/// The state of an action queue, besides the state machine.
struct QueueState {
  /// A job that runs.
  struct Current {
    let run: RunReport.Run
    let began: Instant
    var ending = RunReport.Ending.byItself
  }

  /// The work of a round that has not ended.
  enum Work: Hashable {
    case none
    /// A command that a change would stop or signal.
    case live
    /// Work that ends by itself, and with it the round.
    case finite
  }

  var machine: ActionStateMachine
  /// The machine's pending actions.
  var actions = PendingActions<ActionStateMachine.Action>()
  var timers: [ActionStateMachine.Timer: any ScheduledWork] = [:]

  /// Whether the output of the next run is read.
  var readsOutput: Bool
  /// The readers of the output of running jobs.
  var readers: [ActionQueue.Job: OutputReader] = [:]
  private(set) var current: [ActionQueue.Job: Current] = [:]
  private var runCount = 0
  /// The latest run of the command, and its duration.
  private(set) var latest: (run: RunReport.Run, duration: Duration)?
  var backOff = BackOff()
  private(set) var latestJob = ActionQueue.Job.command
  /// The last value reported by `settled`.
  var isSettled = true
  /// Whether nothing was active or due when that was last examined.
  var isIdle = true
  /// The work after the latest step of the machine.
  var work = Work.none

  init(_ options: ActionQueue.Options) {
    machine = ActionStateMachine(options.rules)
    readsOutput = options.readsOutput
  }

  /// Records the start of a job.
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

  /// Records the end of a job.
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
