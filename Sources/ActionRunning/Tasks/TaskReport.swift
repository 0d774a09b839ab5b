import FileObservation
import SystemCalls

/// An event of a ``TaskRunner``. Tasks are identified by their names.
public enum TaskReport: Sendable {
  /// A run of the task begins. For a service, also when it is started again after it has ended.
  case started(String, RunReport.Run)
  /// A run of the task has ended. All its output was reported before, but processes that it left
  /// behind may write more.
  case ended(String, ExitStatus, duration: Duration, RunReport.Ending)
  /// A run could not be started. It counts as failed with `status`.
  case notStarted(String, SystemError, status: ExitStatus)
  /// A service was not started, because its readiness check succeeds already: another process answers. It
  /// counts as failed, and the start is attempted again after a pause.
  case conflict(String, ReadinessConflict)
  /// The task does not run because of one of its dependencies, direct or indirect.
  case skipped(String, because: Cause)
  /// A service was not restarted because of one of its dependencies. It keeps running.
  case kept(String, because: Cause)
  /// A service is ready, this long after its start.
  case ready(String, after: Duration)
  /// A service is not ready in time, and counts as failed. It keeps running; if it becomes ready later,
  /// ``ready(_:after:)`` follows and its dependents run.
  case notReady(String, TaskDefinition.Readiness)
  /// A line of standard output or standard error of the task, without the line feed. A line of more
  /// than 64 KiB is split. If the graph has only one task, it writes to the descriptors of this
  /// process instead, unless its readiness check examines its output or
  /// ``TaskRunner/Options/readsOutput`` is set.
  case output(String, [UInt8])
  /// The beginning of a line that a task has not finished for 100 ms, such as a prompt or a row of dots.
  /// Reported again when more of it arrives; the whole line follows as ``output(_:_:)``.
  case unfinishedOutput(String, [UInt8])
  /// Any other event of the task's queue, such as those of hooks, stops and pauses.
  case detail(String, RunReport)
  /// Each round changes this path, so the next one is delayed. Reported once for each path.
  case foundLoop(FeedbackLoop)
  /// The tasks that are unsettled: they wait or run, are services that are not ready, or have made
  /// changes that are not known yet. Reported whenever the set changes, and only with
  /// ``TaskRunner/Options/reportsSettling``.
  case unsettled(Set<String>)
  /// The tasks that are requested and have not begun, in the order in which they will begin. Reported
  /// whenever the tasks or their causes change.
  case waiting([TaskRunner.Waiting])
  /// Changes that a task watches wait for the end of these runs.
  case queued(String, RunTrigger, behind: [String])
  /// Changes during a run of the task are ignored, by the policy ``BusyPolicy/ignore``.
  case ignored(String, RunTrigger)
  /// Changes that no task watches. Only with ``TaskRunner/Options/reportsUnwatched``.
  case unwatched([ChangeBatch.Change])
  /// After a round: no task runs but ready services, and none is due until something changes.
  case idle
  /// All work caused by the latest changes has ended.
  case roundEnded(TaskRound)
  /// The runner has ended, and no process of the tasks is left. The status of the last round by the
  /// ``CompletionRule``; `nil` after ``TaskRunner/end()``.
  case finished(ExitStatus?)

  /// Why a task is not run.
  public enum Cause: Sendable, Hashable {
    /// This task failed.
    case failed(String)
    /// This service runs, but is not ready.
    case notReady(String)

    /// The name of the dependency.
    public var task: String {
      switch self {
      case .failed(let task), .notReady(let task): task
      }
    }
  }
}
