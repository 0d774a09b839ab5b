import FileObservation
import SystemCalls

/// The state machine of an action queue: inputs in, actions out, without processes, clocks and queues.
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
/// `signal` the command keeps running while its next version is built.
package struct ActionStateMachine: Sendable {
  package enum State: Hashable, Sendable {
    /// Nothing runs.
    case idle
    /// The build runs, and possibly the command of the run before.
    case building(RunTrigger)
    /// The command runs. `pending` leads to the next run.
    case running(pending: RunTrigger?)
    /// The run has ended, and its hook runs.
    case hooking(next: Step)
    /// The command has ended by itself and is started again after a pause.
    case backingOff
    /// The jobs that the next step excludes are being stopped.
    case stopping(next: Step)
    /// Everything is being stopped for good.
    case ending(ExitStatus?)
    /// The queue has ended.
    case ended
  }

  /// The step that follows when a job has ended.
  package indirect enum Step: Hashable, Sendable {
    /// Nothing.
    case rest
    /// A build, or a run if there is none.
    case begin(RunTrigger)
    /// A run of the result of the build. `pending` arrived after the build.
    case run(RunTrigger, pending: RunTrigger?)
    /// The hook for a run with this status, and then another step.
    case hook(ExitStatus, then: Step)
    /// A pause, and then a run.
    case backOff
    /// The end of the queue, with the status of the last run by the completion rule.
    case finish(ExitStatus?)
  }

  package enum Timer: Hashable, Sendable {
    case backOff
    case timeout
  }

  package enum Action: Hashable, Sendable {
    case launch(ActionQueue.Job, RunTrigger)
    /// Start the hook for a run with this status.
    case launchHook(ExitStatus)
    /// Stop the job's group by the stop plan; `groupIsGone` must follow.
    case stop(ActionQueue.Job)
    /// Stop the command's group, because its timeout is over.
    case timeOut
    /// Kill the job's group, which is being stopped.
    case kill(ActionQueue.Job)
    /// Send the command a signal, for this reason.
    case signal(Signal, RunTrigger)
    /// Call `elapsed` with this generation when the time of the timer is over.
    case wait(Timer, generation: Int)
    /// Report the end of the queue, with the status of the last run by the completion rule.
    case finish(ExitStatus?)
  }

  /// The options of the queue that the machine needs.
  package struct Rules: Hashable, Sendable {
    package var policy = BusyPolicy.queue
    package var completion = CompletionRule.never
    package var hasBuild = false
    package var keepsAlive = false
    package var hasTimeout = false
    /// Whether there is a hook for a success, and for a failure.
    package var hasSuccessHook = false
    package var hasFailureHook = false
    /// The status of a run that exceeded its timeout and then exited with status 0.
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
    /// The process has ended, but other members of its group are alive.
    case leftovers
    case stopping
  }

  package internal(set) var state = State.idle
  /// While paused, only a key starts a run.
  package internal(set) var isPaused = false
  let rules: Rules
  /// The process group of each job, if it exists.
  var groups: [ActionQueue.Job: Group] = [:]
  /// The changes during a pause. They lead to a run when it ends.
  var held: RunTrigger?
  /// Changes that no run has received, because the build failed or the run was stopped. They do not lead to
  /// a run, but the next one receives them.
  var unseen: RunTrigger?
  /// The status of a run that has not been handled, because its group is alive or a build runs.
  var outcome: ExitStatus?
  var hasTimedOut = false
  /// Whether a pause began during the build, so that the command must not be started after it.
  var isHeldBack = false
  private var timers: [Timer: Int] = [:]
  private var generation = 0

  package init(_ rules: Rules) {
    self.rules = rules
  }
}

// MARK: - Steps

extension ActionStateMachine {
  /// Takes a step as soon as the jobs that it excludes have ended, and stops them.
  mutating func go(_ step: Step) -> [Action] {
    let stops = clear(excluded(by: step))
    if groups.keys.contains(where: excluded(by: step).contains) {
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

  /// Begins as soon as possible.
  mutating func begin(_ trigger: RunTrigger) -> [Action] {
    timers[.backOff] = nil
    isHeldBack = false
    return go(.begin(trigger))
  }

  /// The trigger combined with the changes that no run has received.
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

  /// Whether the run needs a build. A command that ended by itself is started again without one.
  private func builds(_ trigger: RunTrigger) -> Bool {
    rules.hasBuild && trigger.reason != .restart
  }

  /// The jobs that must have ended before the step.
  private func excluded(by step: Step) -> Set<ActionQueue.Job> {
    switch step {
    case .begin(let trigger): builds(trigger) ? [.build, .hook] : [.command, .hook]
    case .run: [.command, .hook]
    case .hook: [.hook]
    case .backOff: []
    case .rest, .finish: Set(ActionQueue.Job.allCases)
    }
  }

  /// Stops these jobs.
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

  /// Whether this is the timer's latest generation and was not cancelled. True once.
  mutating func isDue(_ timer: Timer, _ generation: Int) -> Bool {
    guard timers[timer] == generation else { return false }
    timers[timer] = nil
    return true
  }
}

extension ActionStateMachine.Step {
  /// Combines this step with a trigger that arrived before it was taken.
  func merged(with trigger: RunTrigger, hasBuild: Bool) -> Self {
    switch self {
    case .rest, .backOff:
      return .begin(trigger)
    case .begin(let earlier):
      return .begin(earlier.merged(with: trigger))
    case .run(let earlier, let pending):
      // The build is finished, and does not contain these changes.
      if hasBuild { return .run(earlier, pending: pending.merged(with: trigger)) }
      return .run(earlier.merged(with: trigger), pending: nil)
    case .hook(let status, let next):
      return .hook(status, then: next.merged(with: trigger, hasBuild: hasBuild))
    case .finish:
      return self
    }
  }

  /// Whether the step leads to the end of the queue.
  var isLast: Bool {
    switch self {
    case .finish: true
    case .hook(_, let next): next.isLast
    case .rest, .begin, .run, .backOff: false
    }
  }
}

extension RunTrigger? {
  /// Combines both triggers, if there is an earlier one.
  func merged(with later: RunTrigger) -> RunTrigger {
    self?.merged(with: later) ?? later
  }
}
