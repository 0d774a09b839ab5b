import Dispatch
import FileObservation
import SystemCalls

/// Runs the tasks of a graph when something has changed that they watch.
public final class TaskRunner: Sendable {
  /// What concerns all tasks of a graph.
  public struct Options: Sendable {
    /// After which wave all is over; a wave counts as a run.
    public var completion: Completion
    /// The signals that the tasks are to ignore from their start.
    public var ignoredSignals: Set<Signal>
    /// Who ends the tasks should we not be able to.
    public var guardian: Guardian?
    /// Who stops the tasks with us.
    package var jobControl: JobControl?

    /// The options as given.
    public init(
      completion: Completion = .never, ignoredSignals: Set<Signal> = [], guardian: Guardian? = nil
    ) {
      self.completion = completion
      self.ignoredSignals = ignoredSignals
      self.guardian = guardian
    }
  }

  /// A runner for the graph. Nothing runs yet.
  ///
  /// - Parameter report: Is called on a queue of the runner's, in order, with all there is to tell.
  public init(
    _ graph: TaskGraph, options: Options = Options(),
    report: @escaping @Sendable (TaskReport) -> Void
  ) {}

  /// Runs all tasks but those that are postponed, and those that stand after one of these.
  public func start() {}

  /// Something has changed: what watches it is run, and what stands after it.
  public func submit(_ batch: ChangeBatch) {}

  /// Runs all tasks, also while paused.
  public func submitKey() {}

  /// From now on changes start nothing, and are collected. What runs goes on.
  public func pause() {}

  /// Ends a pause: what was collected is seen to.
  public func resume() {}

  /// Stops what runs, without ending the runner. Nothing starts until the next change or key.
  public func stop() {}

  /// Ends the runner: what runs is stopped, each task before those that it stands after, and then
  /// `finished` is reported. When called a second time, what runs is killed.
  public func end() {}

  /// Takes over a changed project. Tasks that are as they were keep running, and keep their state;
  /// those that are gone are stopped; those that are new, or other than before, are run.
  public func replaceGraph(_ graph: TaskGraph) {}

  /// Sends a signal to all that runs.
  public func send(_ signal: Signal) {}
}
