import ActionRunning
import Support
import SystemCalls

/// What waits, as the runner reports it, and since when. Decides when the user is notified of it. A
/// pure state machine: reports in, notices out.
struct WaitingState {
  /// Something that has waited for so long that the user should know.
  enum Notice: Hashable {
    /// A task waits for the end of runs, for a hook, or for a job.
    case waiting(TaskRunner.Waiting)
    /// A run was asked to end, and has not.
    case stopping(TaskReport.Run, Signal, waited: Duration, killIn: Duration)
  }

  /// A task that waits.
  private struct Entry: Hashable {
    var waiting: TaskRunner.Waiting
    let since: Instant
    var isReported = false

    /// How long it may wait without a notice; `nil` if there is none.
    var patience: Duration? {
      switch waiting.cause {
      case .runs, .hook: WaitingState.queueTime
      case .job: WaitingState.jobTime
      case .dependencies, .dependents, .predecessor, .pause, .delay, .nextRun: nil
      }
    }

    var isKey: Bool { waiting.trigger.reason == .key }

    /// Whether this is the same wait, whose cause or changes may be others by now.
    func isSame(as other: TaskRunner.Waiting) -> Bool {
      waiting.name == other.name && isKey == (other.trigger.reason == .key)
    }
  }

  /// A run that was asked to end.
  private struct Stop: Hashable {
    let run: TaskReport.Run
    let signal: Signal
    let since: Instant
    let killAfter: Duration
    var isReported = false

    func notice(at now: Instant) -> Notice {
      let waited = since.duration(to: now)
      return .stopping(run, signal, waited: waited, killIn: max(.zero, killAfter - waited))
    }
  }

  /// How long something may wait before it is reported.
  static let queueTime = Duration.seconds(2)
  static let stopTime = Duration.seconds(1)
  static let jobTime = Duration.seconds(5)

  private var entries: [Entry] = []
  private var stops: [Stop] = []
  /// When commands that have ended are started again.
  private(set) var restarts: [String: Instant] = [:]

  /// The tasks that wait, in the order in which they will run.
  var waiting: [TaskRunner.Waiting] { entries.map(\.waiting) }

  /// The runs that were asked to end.
  func pendingStops(at now: Instant) -> [Notice] { stops.map { $0.notice(at: now) } }

  /// Takes a report of the runner.
  mutating func take(_ report: TaskReport, at now: Instant) {
    switch report {
    case .waiting(let waiting):
      entries = waiting.map { waiting in
        guard var known = entries.first(where: { $0.isSame(as: waiting) }) else {
          return Entry(waiting: waiting, since: now)
        }
        known.waiting = waiting
        return known
      }
    case .stopping(let run, let signal, let killAfter):
      stops.removeAll { $0.run == run }
      stops.append(Stop(run: run, signal: signal, since: now, killAfter: killAfter))
    case .killing(let run, _), .gone(let run), .notStopped(let run, _, _):
      stops.removeAll { $0.run == run }
    case .started(let run):
      restarts[run.task] = nil
    case .gaveUp(let task, _):
      restarts[task] = nil
    case .backingOff(let task, let pause):
      restarts[task] = now.advanced(by: pause)
    case .idle, .finished:
      restarts = [:]
    default:
      break
    }
  }
}

// MARK: - Notices

extension WaitingState {
  /// When the next notice is due; `nil` if none is.
  var nextTime: Instant? {
    let times =
      entries.compactMap { entry in
        entry.isReported ? nil : entry.patience.map { entry.since.advanced(by: $0) }
      } + stops.filter { !$0.isReported }.map { $0.since.advanced(by: Self.stopTime) }
    return times.min()
  }

  /// The notices that are due, each once.
  mutating func takeNotices(at now: Instant) -> [Notice] {
    var notices: [Notice] = []
    for index in stops.indices where !stops[index].isReported {
      guard stops[index].since.advanced(by: Self.stopTime) <= now else { continue }
      stops[index].isReported = true
      // A job that is killed at once or soon needs no notice.
      if stops[index].killAfter > Self.stopTime { notices.append(stops[index].notice(at: now)) }
    }
    for index in entries.indices where !entries[index].isReported {
      guard let patience = entries[index].patience,
        entries[index].since.advanced(by: patience) <= now
      else { continue }
      entries[index].isReported = true
      let waiting = entries[index].waiting
      // What runs is being stopped, which was reported.
      if !isStopping(for: waiting.cause) { notices.append(.waiting(waiting)) }
    }
    return notices
  }

  private func isStopping(for cause: TaskRunner.Waiting.Cause) -> Bool {
    guard case .runs(let names) = cause else { return false }
    return stops.contains { names.contains($0.run.task) }
  }
}
