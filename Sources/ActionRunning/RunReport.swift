import SystemCalls

/// An event of an ``ActionQueue``.
public enum RunReport: Sendable {
  /// A run begins. Its process is started next.
  case started(Run)
  /// A line of standard output or standard error of a run, or of a process that it left behind, without
  /// the line feed. A line of more than 64 KiB is split. Only with ``ActionQueue/Options/readsOutput``.
  case output(Run, [UInt8])
  /// The beginning of a line that a run has not finished for 100 ms, such as a prompt or a row of dots.
  /// Reported again when more of it arrives; the whole line follows as ``output(_:_:)``.
  case unfinishedOutput(Run, [UInt8])
  /// A run has ended. All its output was reported before.
  case ended(Run, ExitStatus, duration: Duration, Ending)
  /// A run could not be started. It counts as failed with `status`: 127 if there is no such program, 126
  /// if it cannot be executed.
  case notStarted(Run, SystemError, status: ExitStatus)
  /// A run of the command has exceeded its timeout and is stopped.
  case timedOut(Run, after: Duration)
  /// A run was sent the stop signal. It is killed after this time.
  case stopping(ActionQueue.Job, Signal, killAfter: Duration = .zero)
  /// A run is killed: after this grace period, or `nil` if ``ActionQueue/end()`` was called a second time.
  case killing(ActionQueue.Job, after: Duration?)
  /// A run was killed, but the kernel has not ended it. The queue continues without it.
  case abandoned(ActionQueue.Job)
  /// Nothing is left of a job that was stopped.
  case gone(ActionQueue.Job)
  /// A trigger waits for the end of a job, which it neither stops nor signals.
  case queued(RunTrigger, behind: ActionQueue.Job)
  /// Changes during a run are ignored, by the policy ``BusyPolicy/ignore``.
  case ignored(RunTrigger)
  /// The command was sent a signal because of a change.
  case signaled(Signal, RunTrigger)
  /// The command has ended by itself and is started again after this time.
  case backingOff(Duration)
  /// Each run changes this path, so the next one is delayed. Reported once for each path.
  case foundLoop(FeedbackLoop)
  /// Whether all work has ended, and the changes that it made are known. Reported whenever the value
  /// changes, and only with ``ActionQueue/Options/reportsSettling``.
  case settled(Bool)
  /// After a run: nothing is active, and no run is due until something changes.
  case idle
  /// The queue has ended, and no process of the command is left. The status of the last run by the
  /// ``CompletionRule``; `nil` after ``ActionQueue/end()``.
  case finished(ExitStatus?)

  /// A run of the command, its build or its hook.
  public struct Run: Sendable, Hashable {
    /// The part that runs.
    public let job: ActionQueue.Job
    /// The number of the run of the command to which it belongs, from 1.
    public let number: Int
    /// The reason for the run.
    public let trigger: RunTrigger
  }

  /// Why a run ended.
  public enum Ending: Sendable, Hashable {
    /// It was not stopped.
    case byItself
    /// It was stopped because it exceeded its timeout.
    case timedOut
    /// It was stopped for another reason, such as the next run.
    case stopped
  }
}
