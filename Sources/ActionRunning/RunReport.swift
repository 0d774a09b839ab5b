import SystemCalls

/// What an action queue has to tell.
public enum RunReport: Sendable {
  /// A run begins.
  case started(Run)
  /// A line that a run, or a process that it left behind, has written to standard output or error,
  /// without its end. A very long line comes in pieces. Only with
  /// ``ActionQueue/Options/readsOutput``.
  case output(Run, [UInt8])
  /// A run has ended. Its own output was reported before.
  case ended(Run, ExitStatus, duration: Duration, Ending)
  /// A run could not be started; it counts as one that failed with `status`, which is 127 where
  /// there is no such program and 126 where it cannot be executed.
  case notStarted(Run, SystemError, status: ExitStatus)
  /// A run of the command has taken longer than this, which is all it may take, and is stopped.
  case timedOut(Run, after: Duration)
  /// A run is being asked to end, and is killed if it has not ended after this time.
  case stopping(ActionQueue.Job, Signal, killAfter: Duration = .zero)
  /// A run is killed: after this grace period, or `nil` if that was requested before its end.
  case killing(ActionQueue.Job, after: Duration?)
  /// A run has been killed and is still there, held by the kernel. It is not waited for any longer.
  case abandoned(ActionQueue.Job)
  /// Nothing is left of a job that was stopped.
  case gone(ActionQueue.Job)
  /// A trigger waits for the end of a job, which it neither stops nor signals.
  case queued(RunTrigger, behind: ActionQueue.Job)
  /// Changes during a run lead to nothing, by the policy ``BusyPolicy/ignore``.
  case ignored(RunTrigger)
  /// The running command was sent a signal because of a change.
  case signaled(Signal, RunTrigger)
  /// The command has ended by itself, and is started again after a pause.
  case backingOff(Duration)
  /// Each run changes this path, so the next one is delayed. Reported once for each path.
  case foundLoop(FeedbackLoop)
  /// Whether nothing is under way any more that ends by itself, and what it has changed has been seen. Only
  /// with ``ActionQueue/Options/reportsSettling``, whenever it becomes another.
  case settled(Bool)
  /// After a run: nothing is under way, and no run is due until something changes.
  case idle
  /// All is over, and nothing of the command is left. The status of the run that was the last by
  /// the completion's rule, nil if the queue was ended from outside.
  case finished(ExitStatus?)

  /// One run of the command, of the build before it or of the hook after it.
  public struct Run: Sendable, Hashable {
    /// Which of them it is.
    public let job: ActionQueue.Job
    /// Which run of the command it is or belongs to, counted from 1.
    public let number: Int
    /// Why it was started.
    public let trigger: RunTrigger
  }

  /// Why a run has ended.
  public enum Ending: Sendable, Hashable {
    /// It has come to its end.
    case byItself
    /// It was stopped, because it took longer than it may.
    case timedOut
    /// It was stopped for something else: for the next one, or for good.
    case stopped
  }
}
