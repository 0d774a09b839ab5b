/// How the runs of a command follow each other, and how they end.
public struct RunPolicy: Sendable, Hashable {
  /// What a change during a run leads to.
  ///
  /// With `nil` it leads to one more run, except that a run is stopped if one of its dependencies
  /// is restarted, or if a program works in it that compares the times of files, such as make:
  /// what it has made of a file is newer than a save during the run, so that the next run would
  /// take it for up to date. A service is restarted with `nil` and with ``BusyPolicy/queue``, which would
  /// wait for its end.
  public var busyPolicy: BusyPolicy?
  /// How the command and its hooks are stopped.
  public var stopPlan: StopPlan
  /// Runs before the stop plan where the command is stopped, for at most its grace period; `nil` for signals only.
  /// The signals follow a second after it has succeeded, and at once if it fails. It is not run when this process is killed.
  public var stopCommand: Command?
  /// The time after which a run of the command is stopped and counts as failed.
  public var timeout: Duration?
  /// Whether the command is started again, after a pause, when it ends by itself.
  public var keepsAlive = false
  /// How often in a row it is started again without success, which is to become ready by its readiness
  /// check, or to run for ten seconds. Then it waits for a change. `nil` for any number.
  public var restartLimit: Int?
  /// The pause before it is started again for the first time. Each further pause in a row is twice as long, up to
  /// eight seconds, unless the first one is longer.
  public var backOff = Duration.milliseconds(500)
  /// Runs after a run of the command that succeeded and was not stopped.
  public var onSuccess: Command?
  /// Runs after a run of the command that failed, or exceeded its timeout.
  public var onFailure: Command?

  /// Creates a policy.
  public init(
    busyPolicy: BusyPolicy? = nil, stopPlan: StopPlan = StopPlan(), timeout: Duration? = nil
  ) {
    self.busyPolicy = busyPolicy
    self.stopPlan = stopPlan
    self.timeout = timeout
  }
}
