import FileObservation
import SystemCalls

/// What a task runner has to tell. Tasks are called by their names.
public enum TaskReport: Sendable {
  /// A run of the task begins. Of a service, also one that was started again after it had ended.
  case started(String, RunReport.Run)
  /// A run of the task has ended. What its output was has been reported before, but for what others
  /// write that it has left behind.
  case ended(String, ExitStatus, duration: Duration, RunReport.Ending)
  /// A run could not be started; it counts as one that failed with `status`.
  case notStarted(String, SystemError, status: ExitStatus)
  /// The task is not run, because this one, which it stands after, directly or not, has failed.
  case skipped(String, because: String)
  /// The same for a service that runs: it keeps running as it was.
  case kept(String, because: String)
  /// A service is ready, so long after it was started.
  case ready(String, after: Duration)
  /// A service was not ready in time, and counts as failed. It keeps running.
  case notReady(String, TaskDefinition.Readiness)
  /// A line that the task has written, on standard output or error, without its end. A very long one
  /// comes in pieces. The only task of a graph writes to our own descriptors instead, unless its
  /// readiness is seen by its output, or ``TaskRunner/Options/readsOutput`` is set.
  case output(String, [UInt8])
  /// Any other report of the task's queue: hooks, stopping, backing off.
  case detail(String, RunReport)
  /// Each round changes this path, so the next one is delayed. Reported once for each path.
  case foundLoop(FeedbackLoop)
  /// These tasks are wanted or run, or are services that are not ready, or what they have changed has not been
  /// seen. Only with ``TaskRunner/Options/reportsSettling``, whenever they become others.
  case unsettled(Set<String>)
  /// The tasks that are wanted and have not begun, in the order in which they begin, whenever they or their
  /// causes become others.
  case waiting([TaskRunner.Waiting])
  /// Changes that a task watches wait for the end of these runs.
  case queued(String, RunTrigger, behind: [String])
  /// Changes during a run of the task lead to nothing, by the policy ``BusyPolicy/ignore``.
  case ignored(String, RunTrigger)
  /// Changes that no task watches. Only with ``TaskRunner/Options/reportsUnwatched``.
  case unwatched([ChangeBatch.Change])
  /// After a round: no task runs but ready services, and none is due until something changes.
  case idle
  /// All that the latest changes have led to is done.
  case roundEnded(TaskRound)
  /// All is over, and nothing of the tasks is left. The status of the round that was the last by the
  /// completion's rule, nil if the runner was ended from outside.
  case finished(ExitStatus?)
}

/// What came of some changes, when all is done that they have led to.
public struct TaskRound: Sendable, Hashable {
  /// What came of one task.
  public enum Outcome: Sendable, Hashable {
    /// It has succeeded, in this time.
    case succeeded(Duration)
    /// It has failed, in this time, with this status.
    case failed(ExitStatus, Duration)
    /// A service has become ready, in this time.
    case ready(Duration)
    /// A service was not ready in time, or has ended before.
    case notReady
    /// It was stopped.
    case cancelled
    /// It was not run, because this one has failed.
    case skipped(because: String)
    /// A service was left running as it was, because this one has failed.
    case kept(because: String)
  }

  /// A task, and what came of it.
  public struct Entry: Sendable, Hashable {
    /// The task's name.
    public let name: String
    /// What came of it.
    public let outcome: Outcome
  }

  /// The tasks that the round has reached, each after its dependencies.
  public let entries: [Entry]

  /// The status of the first that has failed; 0 if none has.
  public var status: ExitStatus {
    for entry in entries {
      switch entry.outcome {
      case .failed(let status, _): return status
      case .notReady: return .exited(1)
      case .succeeded, .ready, .cancelled, .skipped, .kept: continue
      }
    }
    return .exited(0)
  }
}
