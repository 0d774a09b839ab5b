import SystemCalls

/// What an action queue has to tell.
public enum RunReport: Sendable {
  /// A run begins.
  case started(Run)
  /// A run has ended by itself, or because it was stopped.
  case ended(Run, ExitStatus, duration: Duration, wasStopped: Bool)
  /// A run could not be started; it counts as one that failed with `status`, which is 127 where
  /// there is no such program and 126 where it cannot be executed.
  case notStarted(Run, SystemError, status: ExitStatus)
  /// The command is being asked to end.
  case stopping(Signal)
  /// The command has not ended in time, and is killed.
  case killing
  /// The running command was sent a signal because of a change.
  case signaled(Signal, Trigger)
  /// The command itself writes these watched files: while it runs, changes to them start nothing
  /// any more.
  case foundOwnOutputs([Path])
  /// The command is restarted over and over by changes to these files, which it probably writes.
  case restartsItself([Path])
  /// All is over, and nothing of the command is left. The status of the run that was the last by
  /// the completion's rule, nil if the queue was ended from outside.
  case finished(ExitStatus?)

  /// One run of the command.
  public struct Run: Sendable, Hashable {
    /// Which it is, counted from 1.
    public let number: Int
    /// Why it was started.
    public let trigger: Trigger
  }
}
