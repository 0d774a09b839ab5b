import ActionRunning
import LiveReload
import SystemCalls

extension ActivityTranslator {
  /// Translates a report of the command line's queue.
  ///
  /// A round begins with the first run of a trigger, and ends with the command, or with its build if that
  /// fails. A service does not end: there the round ends when it has been started or signaled.
  mutating func activities(for report: RunReport) -> [Activity] {
    guard let command else { return [] }
    switch report {
    case .started(let run):
      return started(run, of: command)
    case .output(let run, let line):
      return command.name(of: run.job).map { [.output(task: $0, line: line)] } ?? []
    case .ended(let run, let status, let duration, let ending):
      let outcome = Self.outcome(status, ending)
      guard let name = command.name(of: run.job) else { return [] }
      let end = Activity.ended(
        task: name, outcome, status: Self.code(status, ending), duration: duration)
      return [end] + roundEnd(after: run.job, succeeded: outcome == .succeeded, command)
    case .notStarted(let run, let error, let status):
      guard let name = command.name(of: run.job) else { return [] }
      return Self.notStarted(name, error, status)
        + roundEnd(after: run.job, succeeded: false, command)
    case .stopping(let job, _, _):
      return command.name(of: job).map { [.stopping(task: $0)] + serverBegins(job, command) } ?? []
    case .signaled(_, let trigger):
      let begin = isInRound ? [] : beginRound(trigger)
      return begin + endRound(succeeded: true)
    case .settled(let isSettled):
      self.isSettled = isSettled
      return unsettled(command)
    case .unfinishedOutput, .timedOut, .killing, .abandoned, .gone, .queued, .ignored, .backingOff,
      .foundLoop, .idle, .finished:
      return []
    }
  }

  private mutating func started(_ run: RunReport.Run, of command: CommandTasks) -> [Activity] {
    guard let name = command.name(of: run.job) else { return [] }
    let beginsRound = RunReport.started(run).beginsAnew(withBuild: command.buildLine != nil)
    let activities =
      (beginsRound ? beginRound(run.trigger) : []) + [.started(task: name)]
      + serverBegins(run.job, command)
    guard run.job == .command && command.isService else { return activities }
    return activities
      + [.ended(task: name, .ready, status: nil, duration: .zero)] + endRound(succeeded: true)
  }

  /// A server is being stopped or started: pages wait until it has had time to start.
  private mutating func serverBegins(_ job: ActionQueue.Job, _ command: CommandTasks) -> [Activity]
  {
    guard job == .command && command.isService else { return [] }
    isServerBeginning = true
    return unsettled(command)
  }

  /// Must be called when the server has had time to start.
  mutating func serverHasBegun() -> [Activity] {
    guard let command, isServerBeginning else { return [] }
    isServerBeginning = false
    return unsettled(command)
  }

  private func unsettled(_ command: CommandTasks) -> [Activity] {
    let isBusy = !isSettled || isServerBeginning
    return [.unsettled(isBusy ? command.names : [])]
  }

  private mutating func roundEnd(
    after job: ActionQueue.Job, succeeded: Bool, _ command: CommandTasks
  ) -> [Activity] {
    switch job {
    // The command follows a build that succeeds.
    case .build: succeeded ? [] : endRound(succeeded: false)
    case .command: command.isService ? [] : endRound(succeeded: succeeded)
    case .hook: []
    }
  }

  static func outcome(_ status: ExitStatus, _ ending: RunReport.Ending) -> Activity.Outcome {
    switch ending {
    case .stopped: .stopped
    case .timedOut: .failed
    case .byItself: status.isSuccess ? .succeeded : .failed
    }
  }

  /// The status of a run; `nil` if it was stopped.
  static func code(_ status: ExitStatus, _ ending: RunReport.Ending) -> Int? {
    ending == .stopped ? nil : Int(status.code)
  }
}
