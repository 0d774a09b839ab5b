import FileObservation
import Support

// What waits, and what is reported when it changes.

extension TaskRunner {
  /// A task that is owed a run which has not begun.
  public struct Waiting: Sendable, Hashable {
    /// What a task waits for.
    public enum Cause: Sendable, Hashable {
      /// The end of these runs, possibly its own. Then its changes are compared with what it knows.
      case runs([String])
      /// The end of the hook after its own run.
      case hook
      /// One of the ``TaskGraph/jobs``, which these tasks use.
      case job(usedBy: [String])
      /// These of its direct or indirect dependencies.
      case dependencies([String])
      /// The changes that were made while its dependencies ran: they are not known yet, as while a burst or a
      /// git operation is under way, and may require another run of those.
      case changes
      /// The end of these runs, which depend on it or are of tasks that are no longer there.
      case dependents([String])
      /// The end of a retired task of the same name.
      case predecessor
      /// The end of the process that has the terminal.
      case terminal
      /// The end of the pause.
      case pause
      /// The end of a delay, since it changes after each run, or has led to many.
      case delay
      /// The next run, since they are outputs of the runs.
      case nextRun
    }

    /// The name of the task.
    public let name: String
    /// Why it is owed a run, with the changes that the run will receive.
    public internal(set) var trigger: RunTrigger
    /// What it waits for.
    public internal(set) var cause: Cause
    /// Since when it waits; for the end of a delay, since the delay began.
    package var since = Instant(offset: .zero)
    package var due: Instant?
    /// Whether a program has worked in the run under way, when a change was submitted, that compares the times of
    /// files, so that the next run may take them for up to date.
    package var mayBeMissed = false

    /// Creates a waiting task.
    public init(_ name: String, _ trigger: RunTrigger, for cause: Cause) {
      self.name = name
      self.trigger = trigger
      self.cause = cause
    }

    /// Whether this is the same wait, whose cause or changes may be others by now.
    package func isSame(as other: Waiting) -> Bool {
      name == other.name && (trigger.reason == .key) == (other.trigger.reason == .key)
        && (cause == .delay) == (other.cause == .delay)
    }
  }
}

extension TaskStateMachine {
  /// The runs that are requested and have not begun, in the order in which they will, without changes.
  var requests: [TaskRunner.Waiting] {
    if isEnding { return [] }
    let running = running
    return order.compactMap { name in
      switch tasks[name]?.request {
      case .made(let reason):
        TaskRunner.Waiting(name, RunTrigger(reason), for: cause(of: name, running))
      case .paused(let reason):
        TaskRunner.Waiting(name, RunTrigger(reason), for: .pause)
      case nil:
        nil
      }
    }
  }

  private func cause(of name: String, _ running: [String]) -> TaskRunner.Waiting.Cause {
    if runs(name) { return .runs([name]) }
    let above = inOrder(ancestors[name, default: []].filter(isUnsettled))
    if !above.isEmpty { return .dependencies(above) }
    if self[name].awaitsTerminal { return .terminal }
    if self[name].judging == .asked || self[name].judging == .held { return .changes }
    let retired = retired(before: name).map(\.name)
    let below =
      running.filter { descendants[name, default: []].contains($0) } + retired.filter { $0 != name }
    if !below.isEmpty { return .dependents(below) }
    if !retired.isEmpty { return .predecessor }
    let users = running + retiring.filter(\.task.phase.isRun).map(\.name)
    return users.isEmpty ? .changes : .job(usedBy: users)
  }

  /// The tasks that run, without services.
  fileprivate var running: [String] { order.filter(runs) }
}

extension TaskRunner.State {
  /// What waits, in the order in which it will run: what is requested, what is judged when the present runs
  /// have ended, and what is known to lead to a run later, or to none of its own.
  func listWaiting(at now: Instant) -> [TaskRunner.Waiting] {
    let isOver = machine.isPaused || machine.isEnding
    let allRunning = isOver ? [] : machine.running
    var (unjudged, deferred) = ([TaskRunner.Waiting](), [TaskRunner.Waiting]())
    for component in components {
      let running = allRunning.filter(component.names.contains)
      let (delayed, records) = (component.delayedPaths, component.records)
      for name in component.order {
        let trigger = owed.trigger(of: name)
        let request = machine[name].request
        // What has changed in the round before as well may be made by the runs.
        if !running.isEmpty && owed.owes(name)
          && trigger.changes.contains(where: { records[$0.path]?.knownContent == nil })
        {
          if request == nil || request?.reason == .key {
            unjudged.append(.init(name, trigger, for: .runs(running)))
          }
        } else if request == nil && !trigger.changes.isEmpty {
          if owed.owes(name, anyOf: delayed) {
            deferred.append(.init(name, trigger, for: .delay))
            deferred[deferred.count - 1].due = component.due
          } else if !owed.owes(name) {
            deferred.append(.init(name, trigger, for: .nextRun))
          }
        }
      }
    }
    return (machine.requests + unjudged + deferred).map { completed($0, at: now) }
  }

  /// Adds the changes, the hook of a run, and the time.
  private func completed(_ entry: TaskRunner.Waiting, at now: Instant) -> TaskRunner.Waiting {
    var entry = entry
    if entry.trigger.reason != .key {
      entry.trigger = owed.trigger(of: entry.name, entry.trigger.reason)
    }
    if case .runs(let names) = entry.cause {
      entry.mayBeMissed = names.contains { machine[$0].isBuilding }
      let isHooking = workers[entry.name]?.phase.isHooking == true
      if isHooking && names == [entry.name] { entry.cause = .hook }
    }
    if machine[entry.name].judging == .held, entry.cause == .changes,
      let due = components.first(where: { $0.names.contains(entry.name) })?.due
    {
      (entry.cause, entry.due) = (.delay, due)
    }
    entry.since = waiting.first { $0.isSame(as: entry) }?.since ?? now
    return entry
  }
}

extension TaskRunner {
  /// Reports what has changed: which tasks are unsettled, what waits, and whether nothing does.
  func reportChanges() {
    let unsettled = judgedTasks.union(machine.order.filter(machine.isUnsettled))
    let names = unsettled.union(restartedSoon)
    if state.access({ exchange(&$0.unsettled, with: names) }) != names {
      report(.runner(.unsettled(names)))
    }
    let now = scheduler.now
    let waiting = state.access { state in
      // Its run has begun, or was dropped.
      state.terminalTask = state.terminalTask.flatMap { state.machine[$0].isRequested ? $0 : nil }
      return state.listWaiting(at: now)
    }
    if state.access({ exchange(&$0.waiting, with: waiting) }) != waiting {
      report(.runner(.waiting(waiting)))
    }
    let isIdle = state.access { state in
      // A run that is delayed is no reason to stay silent.
      unsettled.isEmpty && !state.isInLastRound && !state.machine.isEnding
        // A command runs that may end by itself, or is about to be started again.
        && !state.machine.tasks.values.contains { task in
          task.phase.isRestarted || task.phase.isUp && !task.rules.keepsAlive
        }
        && !state.workers.values.contains(where: \.phase.isRestless)
    }
    if !state.access({ exchange(&$0.isIdle, with: isIdle) }) && isIdle { report(.runner(.idle)) }
    options.stepTaken?()
  }

  /// The tasks that are not at rest: they are unsettled, a hook runs, or processes are being stopped. A
  /// command that is kept alive is at rest while it runs, unless a change waits for its end.
  package var restlessTasks: [String] {
    let active = state.access { state in
      state.workers.values.filter(\.phase.isRestless) + state.retiring.filter(\.isEnding)
    }
    let awaited = Set(waiting.filter { $0.cause != .delay }.map(\.name))
    let unsettled = machine.tasks.filter { name, task in
      let goesOn = task.rules.keepsAlive && task.phase == .running && !task.isRequested
      return task.phase.isStarting || task.isUnsettled && (awaited.contains(name) || !goesOn)
    }
    return active.map(\.name) + unsettled.keys + judgedTasks + restartedSoon
  }

  /// What was reported to wait, for callers on the queue.
  package var waiting: [Waiting] { state.access { $0.waiting } }

  /// The tasks that have run to an end and whose results are without changes that they have ignored.
  package var tasksBehind: Set<String> {
    owed.behind.filter { name in
      let result = machine.state(of: name)
      return result == .succeeded || result == .failed
    }
  }

  /// What was saved and may be missing in the results of these tasks. For callers on the queue.
  package var missed: [String: Set<Path>] { owed.missed }

  /// Whether changes start no runs, for callers on the queue.
  package var isPaused: Bool { machine.isPaused }

  /// Whether the task is a service whose process may exist.
  package func isUp(_ name: String) -> Bool { machine.isUp(name) }

  /// A restart that is due so soon counts as under way: a page is not reloaded from the old service.
  private static let shortDelay = Duration.milliseconds(300)

  /// The tasks whose changes are being judged.
  private var judgedTasks: Set<String> {
    let judged = components.filter { $0.isFlushing || $0.awaitingBurstEnd != nil }
    return Set(judged.flatMap(\.names))
  }

  /// The tasks of components with a service that is restarted soon, or may be when a build has ended.
  private var restartedSoon: [String] {
    components.filter { component in
      component.awaitsBuild || component.owesRestart(within: Self.shortDelay)
    }.flatMap(\.names)
  }
}
