import SystemCalls

/// The state machine of a task's processes: its command, and the hook after it. Inputs in, actions
/// out, without processes, clocks and queues. `StateMachines.md` has its table.
///
/// It does not know why a run starts: that is decided by `TaskStateMachine`.
struct ProcessStateMachine: Sendable {
  enum State: Equatable, Sendable {
    /// Nothing runs. Leftover processes of the latest run may be alive.
    case idle
    case running
    case hooking(next: Step)
    case stopping(next: Step)
    /// Everything is being stopped for good.
    case ending
    case ended

    /// Whether everything has been asked to end for good.
    var isEnding: Bool { self == .ending || self == .ended }

    /// Whether processes are being stopped, and a run may follow.
    var isStopping: Bool {
      if case .stopping = self { true } else { false }
    }

    var isHooking: Bool {
      if case .hooking = self { true } else { false }
    }

    var isRestless: Bool { isHooking || isStopping }
  }

  /// What follows when a process has ended.
  enum Step: Equatable, Sendable {
    case rest
    case launch
  }

  enum Action: Equatable, Sendable {
    case launch
    case launchHook(ExitStatus)
    /// Stop the process group by the stop plan; `groupIsGone` must follow.
    case stop(TaskReport.Job)
    /// Stop the command's group, because its timeout is over.
    case timeOut
    /// Kill the group, which is being stopped.
    case kill(TaskReport.Job)
    /// Report that the next run waits for the group, which cannot be stopped.
    case awaitEnd(TaskReport.Job)
    /// Report that the group, which cannot be stopped, is left running. Its job counts as ended.
    case leave(TaskReport.Job)
    /// Nothing runs any more.
    case rest
    case finish
  }

  private enum Group: Equatable, Sendable {
    case alive
    /// The process has ended, but other members of its group are alive.
    case leftovers
    case stopping
    /// It cannot be stopped, and is still there.
    case stuck
  }

  /// What the timeout of a run has led to.
  private enum Timeout: Equatable, Sendable {
    case notExceeded
    /// The command is being stopped. Its leader may have ended so.
    case exceeded(ExitStatus?)
    /// Nothing waits for its end any more.
    case over
  }

  private(set) var state = State.idle
  private let policy: RunPolicy
  /// The process group of each job, if it exists.
  private var groups: [TaskReport.Job: Group] = [:]
  private var timeout = Timeout.notExceeded

  init(_ policy: RunPolicy) {
    self.policy = policy
  }
}

// MARK: - Requests

extension ProcessStateMachine {
  /// Starts a run. The present one and leftover processes are stopped first.
  mutating func start() -> [Action] { state.isEnding ? [] : proceed(to: .launch) }

  mutating func stop() -> [Action] {
    if state.isEnding { return [] }
    timeout = .notExceeded
    return proceed(to: .rest)
  }

  /// Ends for good. A second call kills the processes.
  mutating func end() -> [Action] {
    if state.isEnding { return jobs(.stopping).map { .kill($0) } }
    state = .ending
    let left = jobs(.stuck)
    return left.map { .leave($0) } + stopAll(except: left) + proceedIfStopped()
  }

  mutating func timedOut() -> [Action] {
    guard state == .running, groups[.command] == .alive else { return [] }
    groups[.command] = .stopping
    timeout = .exceeded(nil)
    return [.timeOut]
  }
}

// MARK: - Ends

extension ProcessStateMachine {
  /// The job's process has ended, or could not be started; with `leftovers`, others of its group are alive.
  mutating func ended(
    _ job: TaskReport.Job, _ status: ExitStatus, leftovers: Bool = false
  ) -> [Action] {
    guard groups[job] == .alive else {
      // A job that is being stopped ends with its group.
      if job == .command && isTimingOut { timeout = .exceeded(status) }
      return []
    }
    groups[job] = leftovers ? .leftovers : nil
    switch (job, state) {
    case (.command, .running): return runHook(after: status, then: .rest)
    case (.hook, .hooking(let next)): return proceed(to: next, isAfterRun: true)
    default: return []
    }
  }

  /// The command was not started, because another process answers in its place or has the terminal: no hook follows.
  mutating func isNotStarted() -> [Action] {
    guard groups[.command] == .alive else { return [] }
    groups[.command] = nil
    return state == .running ? proceed(to: .rest, isAfterRun: true) : []
  }

  /// The job's group, which was being stopped, is gone.
  mutating func groupIsGone(_ job: TaskReport.Job) -> [Action] {
    if groups[job] == .alive { return [] }
    groups[job] = nil
    return job == .command && isTimingOut ? timeoutIsOver() : proceedIfStopped()
  }

  /// The job's group cannot be stopped. No run starts beside it, but nothing else waits for it.
  mutating func notStopped(_ job: TaskReport.Job) -> [Action] {
    guard groups[job] == .stopping else { return [] }
    groups[job] = .stuck
    if job == .command && isTimingOut {
      return [.leave(job)] + timeoutIsOver(unless: .signaled(.kill))
    }
    if state == .stopping(next: .launch) { return [.awaitEnd(job)] }
    return [.leave(job)] + proceedIfStopped()
  }

  private var isTimingOut: Bool {
    if case .exceeded = timeout { true } else { false }
  }

  /// The run that exceeded its timeout has ended.
  private mutating func timeoutIsOver(unless stuck: ExitStatus? = nil) -> [Action] {
    guard case .exceeded(let status) = timeout else { return [] }
    timeout = .over
    let result = result(status ?? stuck ?? statusAtTimeout, .timedOut)
    switch state {
    case .running: return runHook(after: result, then: .rest)
    case .stopping(let next): return runHook(after: result, then: next)
    case .idle, .hooking, .ending, .ended: return proceedIfStopped()
    }
  }

  /// Takes the next step if nothing is being stopped any more. A run does not start beside a group that cannot be
  /// stopped, which is not signalled again before the next request.
  private mutating func proceedIfStopped() -> [Action] {
    if !jobs(.stopping).isEmpty { return [] }
    switch state {
    case .stopping(next: .launch):
      return groups.isEmpty ? proceed(to: .launch) : []
    case .stopping(next: .rest):
      state = .idle
      return [.rest]
    case .ending:
      state = .ended
      return [.finish]
    case .idle, .running, .hooking, .ended:
      return []
    }
  }

  private mutating func runHook(after status: ExitStatus, then next: Step) -> [Action] {
    guard hasHook(after: status) else { return proceed(to: next, isAfterRun: true) }
    state = .hooking(next: next)
    groups[.hook] = .alive
    return [.launchHook(status)]
  }
}

// MARK: - Results

extension ProcessStateMachine {
  /// How the job ends if its process ends now.
  func ending(of job: TaskReport.Job) -> TaskReport.Ending {
    switch groups[job] {
    case .stopping, .stuck:
      job == .command && timeout != .notExceeded ? .timedOut : .stopped
    case .alive, .leftovers, nil: .byItself
    }
  }

  /// The status of a run that exceeded its timeout and then exited with status 0.
  private var statusAtTimeout: ExitStatus { .signaled(policy.stopPlan.signal) }

  /// The status that counts for a run which has ended so: a timeout is never a success.
  func result(_ status: ExitStatus, _ ending: TaskReport.Ending) -> ExitStatus {
    ending == .timedOut && status.isSuccess ? statusAtTimeout : status
  }

  /// Whether a hook follows a run of the command that has ended so.
  func precedesHook(_ status: ExitStatus, _ ending: TaskReport.Ending) -> Bool {
    ending != .stopped && hasHook(after: result(status, ending))
  }

  private func hasHook(after status: ExitStatus) -> Bool {
    (status.isSuccess ? policy.onSuccess : policy.onFailure) != nil
  }
}

// MARK: - Steps

extension ProcessStateMachine {
  /// Rests or launches as soon as nothing runs. Leftover processes are stopped, unless the run has just
  /// ended and nothing follows: they may go on until the next run.
  private mutating func proceed(to step: Step, isAfterRun: Bool = false) -> [Action] {
    if step == .rest && isAfterRun {
      state = .idle
      return [.rest]
    }
    let stops = stopAll()
    if !groups.isEmpty {
      state = .stopping(next: step)
      return stops
    }
    switch step {
    case .rest:
      state = .idle
      return [.rest]
    case .launch:
      (state, timeout) = (.running, .notExceeded)
      groups[.command] = .alive
      return [.launch]
    }
  }

  private mutating func stopAll(except left: [TaskReport.Job] = []) -> [Action] {
    let stopped = TaskReport.Job.allCases.filter {
      groups[$0] != nil && groups[$0] != .stopping && !left.contains($0)
    }
    for job in stopped { groups[job] = .stopping }
    return stopped.map { .stop($0) }
  }

  private func jobs(_ group: Group) -> [TaskReport.Job] {
    TaskReport.Job.allCases.filter { groups[$0] == group }
  }
}
