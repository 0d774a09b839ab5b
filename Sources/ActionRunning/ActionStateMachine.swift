import FileObservation
import SystemCalls

/// What an action queue does next. Inputs in, actions out: no process, no clock, no queue.
///
/// ```
///                ┌───────────────── nothing is pending ─────────────────┐
///                ▼                                                      │
///   trigger ─▶ idle ──▶ building ──▶ running ──▶ (ended) ──▶ hooking ───┤
///                         ▲   │        ▲  ▲                             │
///                         │   │        │  └── backingOff ◀─ kept alive ─┤
///                         │   │        │                                │
///                         │   │     stopping ◀── restart, leftovers     │
///                         │   │        │                                │
///                         └───┼────────┴──────── pending ◀──────────────┘
///                             └─▶ failed: as it was before
///
///   from any: end, the last run ──▶ ending ──▶ (nothing is left) ──▶ ended
/// ```
///
/// To begin is to build, if there is a build, and otherwise to run. With the policies `restart` and
/// `signal` the command goes on while its next version is built.
package struct ActionStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// Nothing is under way.
    case idle
    /// The build is under way, and perhaps the command that was there before.
    case building(RunTrigger)
    /// The command is under way, and more is wanted if anything is pending.
    case running(pending: RunTrigger?)
    /// The run is over, and the hook for it is under way.
    case hooking(next: Step)
    /// The command has ended by itself, and is started again in a while.
    case backingOff
    /// What stands in the way of the next step is being stopped.
    case stopping(next: Step)
    /// All is being stopped for good.
    case ending(ExitStatus?)
    /// All is over.
    case ended
  }

  /// What comes when something else has ended.
  package indirect enum Step: Hashable, Sendable {
    /// Nothing.
    case rest
    /// A build, or where there is none a run.
    case begin(RunTrigger)
    /// A run of what is built; `pending` has come since.
    case run(RunTrigger, pending: RunTrigger?)
    /// The hook for a run that ended like this, and then another step.
    case hook(ExitStatus, then: Step)
    /// A while of nothing, and then a run.
    case backOff
    /// The end of all; the status of the run that was the last by the completion's rule.
    case finish(ExitStatus?)
  }

  package enum Timer: Hashable, Sendable {
    case backOff
    case timeout
  }

  package enum Action: Hashable, Sendable {
    case launch(ActionQueue.Job, RunTrigger)
    /// Start the hook for a run that ended like this.
    case launchHook(ExitStatus)
    /// Stop the job's group, in the way that is planned; `groupIsGone` is to follow.
    case stop(ActionQueue.Job)
    /// The same for the command, because its time is up.
    case timeOut
    /// Kill the job's group, which is being stopped, at once.
    case kill(ActionQueue.Job)
    /// Send the running command a signal, on this occasion.
    case signal(Signal, RunTrigger)
    /// Call `elapsed` after a while, with this generation.
    case wait(Timer, generation: Int)
    /// All is over; the status of the run that was the last by the completion's rule, if one was.
    case finish(ExitStatus?)
  }

  /// What a queue is made for, as far as it decides what comes next.
  package struct Rules: Hashable, Sendable {
    package var policy = BusyPolicy.queue
    package var completion = CompletionRule.never
    package var hasBuild = false
    package var keepsAlive = false
    package var hasTimeout = false
    /// If there is something to run after a success, after a failure.
    package var hasSuccessHook = false
    package var hasFailureHook = false
    /// How a run ended whose time was up, if the command does not admit that it failed.
    package var statusAtTimeout = ExitStatus.signaled(.terminate)

    package init() {}

    func hasHook(after status: ExitStatus) -> Bool {
      status.isSuccess ? hasSuccessHook : hasFailureHook
    }

    /// Whether the command keeps running while its next version is built.
    var buildsBeside: Bool { hasBuild && isLive }
  }

  enum Group: Hashable, Sendable {
    case alive
    /// The process has ended, and others in its group have not.
    case leftovers
    case stopping
  }

  package internal(set) var state = State.idle
  /// While paused nothing starts, but for a key.
  package internal(set) var isPaused = false
  let rules: Rules
  /// What there is of each job; none if nothing.
  var groups: [ActionQueue.Job: Group] = [:]
  /// What came while it was paused, and leads to a run when it no longer is.
  var held: RunTrigger?
  /// What no run has been given, though none is wanted for it alone: its build has failed, or it was
  /// stopped. The next one is told of it.
  var unseen: RunTrigger?
  /// How a run ended that has not been dealt with, because its group is still there or a build goes
  /// on beside.
  var outcome: ExitStatus?
  var hasTimedOut = false
  /// True if it was paused during the build, so that the command is not to be started after it.
  var isHeldBack = false
  private var timers: [Timer: Int] = [:]
  private var generation = 0

  package init(_ rules: Rules) {
    self.rules = rules
  }
}

// MARK: - Steps

extension ActionStateMachine {
  /// Takes a step as soon as nothing stands in its way, and sees to that.
  mutating func go(_ step: Step) -> [Action] {
    let stops = clear(needed(for: step))
    if groups.keys.contains(where: needed(for: step).contains) {
      if case .finish(let status) = step {
        state = .ending(status)
      } else {
        state = .stopping(next: step)
      }
      return stops
    }
    switch step {
    case .rest:
      state = .idle
      return []
    case .begin(let trigger):
      return builds(trigger) ? build(all(trigger)) : go(.run(all(trigger), pending: nil))
    case .run(let trigger, let pending):
      return run(trigger) + (pending.map { accept($0) } ?? [])
    case .hook(let status, let next):
      state = .hooking(next: next)
      groups[.hook] = .alive
      return [.launchHook(status)]
    case .backOff:
      state = .backingOff
      return [wait(for: .backOff)]
    case .finish(let status):
      state = .ended
      return [.finish(status)]
    }
  }

  /// Begins at the next opportunity.
  mutating func begin(_ trigger: RunTrigger) -> [Action] {
    timers[.backOff] = nil
    isHeldBack = false
    return go(.begin(trigger))
  }

  /// The trigger with all that no run has been given yet.
  private mutating func all(_ trigger: RunTrigger) -> RunTrigger {
    if trigger.reason == .restart { return trigger }
    defer { unseen = nil }
    return unseen.merged(with: trigger)
  }

  private mutating func build(_ trigger: RunTrigger) -> [Action] {
    state = .building(trigger)
    groups[.build] = .alive
    return [.launch(.build, trigger)]
  }

  private mutating func run(_ trigger: RunTrigger) -> [Action] {
    state = .running(pending: nil)
    groups[.command] = .alive
    (outcome, hasTimedOut) = (nil, false)
    return (rules.hasTimeout ? [wait(for: .timeout)] : []) + [.launch(.command, trigger)]
  }

  /// What has ended by itself is started again as it is.
  private func builds(_ trigger: RunTrigger) -> Bool {
    rules.hasBuild && trigger.reason != .restart
  }

  /// The jobs of which nothing may be there when the step is taken.
  private func needed(for step: Step) -> Set<ActionQueue.Job> {
    switch step {
    case .begin(let trigger): builds(trigger) ? [.build, .hook] : [.command, .hook]
    case .run: [.command, .hook]
    case .hook: [.hook]
    case .backOff: []
    case .rest, .finish: Set(ActionQueue.Job.allCases)
    }
  }

  /// Stops what is there of these jobs.
  private mutating func clear(_ jobs: Set<ActionQueue.Job>) -> [Action] {
    var actions: [Action] = []
    for job in ActionQueue.Job.allCases where jobs.contains(job) {
      guard let group = groups[job], group != .stopping else { continue }
      groups[job] = .stopping
      actions.append(.stop(job))
    }
    return actions
  }

  mutating func wait(for timer: Timer) -> Action {
    generation += 1
    timers[timer] = generation
    return .wait(timer, generation: generation)
  }

  /// True, once, for the timer's latest generation, if nobody has lost interest in it.
  mutating func isDue(_ timer: Timer, _ generation: Int) -> Bool {
    guard timers[timer] == generation else { return false }
    timers[timer] = nil
    return true
  }
}

extension ActionStateMachine.Step {
  /// This step, with a trigger that has come before it was taken.
  func merged(with trigger: RunTrigger, hasBuild: Bool) -> Self {
    switch self {
    case .rest, .backOff:
      return .begin(trigger)
    case .begin(let earlier):
      return .begin(earlier.merged(with: trigger))
    case .run(let earlier, let pending):
      // What is built is run; the trigger came too late to be in it.
      if hasBuild { return .run(earlier, pending: pending.merged(with: trigger)) }
      return .run(earlier.merged(with: trigger), pending: nil)
    case .hook(let status, let next):
      return .hook(status, then: next.merged(with: trigger, hasBuild: hasBuild))
    case .finish:
      return self
    }
  }

  /// True if it leads to the end of all.
  var isLast: Bool {
    switch self {
    case .finish: true
    case .hook(_, let next): next.isLast
    case .rest, .begin, .run, .backOff: false
    }
  }
}

extension RunTrigger? {
  /// The one that is there, or one for both.
  func merged(with later: RunTrigger) -> RunTrigger {
    self?.merged(with: later) ?? later
  }
}
