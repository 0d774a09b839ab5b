import FileObservation
import SystemCalls

/// An event of a ``TaskRunner`` or an ``ActionQueue``, by its subject. Tasks are identified by their names.
///
/// All work that one cause leads to, such as a batch of changes, is a round: it is reported between
/// ``RoundEvent/began(_:)`` and ``RoundEvent/ended(_:)``. Output is not among the reports; see ``TaskOutput``.
///
/// Later versions may report more: handle what you need, and ignore the rest with `default`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum TaskReport: Sendable {
  /// A round begins or has ended.
  case round(RoundEvent)
  /// What happens to a run of a task.
  case run(Run, RunEvent)
  /// What happens to the task with this name, besides its runs.
  case task(String, TaskEvent)
  /// What was decided about changes.
  case changes(ChangeEvent)
  /// What the whole runner does.
  case runner(RunnerEvent)
}

extension TaskReport {
  /// An event of a round.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum RoundEvent: Sendable {
    /// It begins, for this reason. Its first run, signal or skipped task follows.
    case began(RunTrigger)
    /// All its work has ended.
    case ended(TaskRound)
  }

  /// An event of a run.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum RunEvent: Sendable {
    /// It begins. Its process is started next. For a service, also when it is started again after it has
    /// ended, which is no round.
    case started
    /// Its process exists. The ID is that of its process group as well.
    case launched(processID: Int32)
    /// It has ended. All its output was delivered before, but processes that it left behind may write more.
    case ended(ExitStatus, duration: Duration, Ending)
    /// It could not be started. It counts as failed with `status`: 127 if there is no such program, 126 if it
    /// cannot be executed.
    case notStarted(SystemError, status: ExitStatus)
    /// It has no `WATCHRUN_PATHS_FILE`, since the file could not be written. Reported once for each task.
    case pathsNotWritten(SystemError)
    /// It has exceeded its timeout and is stopped.
    case timedOut(after: Duration)
    /// It was sent the stop signal. It is killed after this time.
    case stopping(Signal, killAfter: Duration)
    /// It is stopped by ``RunPolicy/stopCommand``, which is killed after this time. The stop signal follows.
    case stoppingBy(Command, killAfter: Duration)
    /// It is killed: after this grace period, or `nil` if ``TaskRunner/end()`` was called a second time.
    case killing(after: Duration?)
    /// It cannot be stopped, because this process is still there: it belongs to another user, or the kernel
    /// has not ended it after SIGKILL. No run of the task starts beside it. With `isAwaited`, the next one
    /// waits for its end; otherwise the runner goes on, or ends, without it.
    case notStopped(Survivor?, isAwaited: Bool)
    /// It was stopped, and nothing is left of it.
    case gone
  }

  /// An event of a task, besides those of its runs.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum TaskEvent: Sendable {
    /// It does not run because of one of its dependencies, direct or indirect.
    case skipped(because: Cause)
    /// A service was not restarted because of one of its dependencies, or of itself: its next process has failed. It
    /// keeps running.
    case kept(because: Cause)
    /// It is not run at the start, since nothing has changed since its last success. It counts as succeeded.
    case fresh
    /// A service is ready, this long after its start.
    case ready(after: Duration)
    /// A service is not ready in time, and counts as failed. It keeps running; if it becomes ready later,
    /// ``ready(after:)`` follows and its dependents run.
    case notReady(TaskDefinition.Readiness)
    /// A service was not started, because its readiness check succeeds already: another process answers. It
    /// counts as failed, and the start is attempted again after a pause.
    case conflict(ReadinessConflict)
    /// Its command was sent a signal because of a change.
    case signaled(Signal, RunTrigger)
    /// Its command has ended by itself and is started again after this time.
    case backingOff(Duration)
    /// Its command has ended by itself after this many restarts in a row without success, and is not started
    /// again before a change or a key; see ``RunPolicy/restartLimit``.
    case gaveUp(afterRestarts: Int)
    /// Changes during its run are ignored, by the policy ``BusyPolicy/ignore``.
    case ignored(RunTrigger)
    /// Files were saved while a program worked in its run that compares times, as make does, and the run was not
    /// stopped: later runs take them for up to date, until they are saved again.
    case missed(RunTrigger)
    /// Something happened that the state of the task rules out, as this text says: a mistake in this library.
    /// It was ignored. A debug build stops instead.
    case rejected(String)
  }

  /// What was decided about changes.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum ChangeEvent: Sendable {
    /// Each run changes this path, so the next one is delayed. Reported once for each path.
    case foundLoop(FeedbackLoop)
    /// These paths are outputs: only runs change them, and two more runs for each of them changed nothing.
    /// Their changes during a run no longer lead to another run of the tasks that write them.
    case foundOutputs([Path])
    /// What was decided about changes during a run.
    case explained([ChangeExplanation])
    /// Changes since the start of the runs that were stopped by ``TaskRunner/stop()``. They start nothing,
    /// but the next run receives them.
    case owed(RunTrigger)
  }

  /// An event of the whole runner.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum RunnerEvent: Sendable {
    /// What waits, in the order in which it will run. Reported whenever the list changes.
    case waiting([TaskRunner.Waiting])
    /// The tasks that are unsettled: they wait or run, are services that are not ready, or have made changes
    /// that are not known yet. Reported whenever the set changes.
    case unsettled(Set<String>)
    /// After a round: nothing runs but ready services, and no run is due until something changes, except one
    /// that is delayed because each run changes a path.
    case idle
    /// The runner has ended, and no process of the tasks is left. The status by the
    /// ``CompletionRule``; `nil` after ``TaskRunner/end()``.
    case finished(ExitStatus?)
  }
}

extension TaskReport {
  /// The part that a process plays in a run of a task. At most one process of each kind exists, or two with
  /// ``BusyPolicy/overlap``.
  public enum Job: String, Sendable, Hashable, CaseIterable {
    /// The command itself.
    case command
    /// Runs after the command: ``RunPolicy/onSuccess`` or ``RunPolicy/onFailure``.
    case hook
  }

  /// A run of a task's command or of its hook.
  public struct Run: Sendable, Hashable {
    /// The name of the task.
    public let task: String
    /// The part that runs.
    public let job: Job
    /// The number of the run of the task, from 1.
    public let number: Int
    /// The reason for the run, with the changes that it receives.
    public let trigger: RunTrigger
    /// Whether its command takes the terminal, if there is one to lend.
    package var takesTerminal = false
    /// Whether another process of the service was started beside it, as ``BusyPolicy/overlap`` says.
    package var isFormer = false
    /// What replaces `{tests}` in the command; empty for all tests.
    package var tests: [Path] = []

    /// Hashes what identifies the run, and not its changes, of which there may be many.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(task)
      hasher.combine(job)
      hasher.combine(number)
    }
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
