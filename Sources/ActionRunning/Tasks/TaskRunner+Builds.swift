import FileObservation
import Support
import SystemCalls

// Saves while programs work that compare the times of files.

/// The searches for programs that compare the times of files, among the processes of runs.
struct BuildSearch {
  /// The shortest pause between two searches.
  static let shortestPause = Duration.milliseconds(10)
  /// A pause is at least so many times as long as the processor time of the search before it.
  static let share = 25

  /// The leaders of the commands that were found to build, until the changes are submitted for which they were
  /// searched, by the numbers of the searches.
  var found: [pid_t: Int] = [:]
  var count = 0
  /// When the next search may begin.
  var next: Instant?
  /// The tasks whose files were saved during the pause.
  var changed: Set<String> = []
  var timer: (any ScheduledWork)?
}

extension TaskRunner {
  /// Notes that changes have been reported, long before they are submitted. May be called on any thread, as early
  /// as possible: what the tasks do after the change proves nothing. If a save stops a run because a program works in
  /// it that compares the times of files, the source is asked for the changes at once.
  ///
  /// - Parameters:
  ///   - isFirst: Whether a burst begins with them.
  ///   - saved: The files that existed before, and are complete.
  package func changesArrived(isFirst: Bool, saved: [Path]) {
    if isFirst { monitor.look(beginsBurst: true) }
    if saved.isEmpty { return }
    queue.async { [weak self] in self?.filesWereSaved(saved) }
  }

  private func filesWereSaved(_ paths: [Path]) {
    let changed = state.access { state -> Set<String> in
      if state.machine.runsOutdatedIfBuilding.isEmpty { return [] }
      let changes = paths.map { ChangeBatch.Change(path: $0, kind: .modified, type: .file) }
      let audiences = state.graph.audiences.filter { audience in
        changes.contains(where: audience.triggers.isTriggered)
      }
      return Set(audiences.flatMap(\.names))
    }
    if !changed.isEmpty { searchBuilds(changed) }
  }

  /// Flushes the source if a change of these tasks stops a run that builds. They are searched as often as costs
  /// little.
  private func searchBuilds(_ changed: Set<String>) {
    let now = scheduler.now
    if let next = state.access(\.buildSearch.next), now < next {
      return searchBuilds(changed, later: next)
    }
    let runs = state.access { state in
      state.machine.runsOutdatedIfBuilding(whenChanged: changed).compactMap { state.workers[$0] }
    }
    if runs.isEmpty { return }
    let before = processorTimeOfThread()
    let leaders = runs.filter(\.isBuilding).compactMap(\.commandLeader)
    let cost = processorTimeOfThread() - before
    let (source, number) = state.access { state in
      state.buildSearch.next = now.advanced(
        by: max(BuildSearch.shortestPause, cost * BuildSearch.share))
      state.buildSearch.count += 1
      for leader in leaders { state.buildSearch.found[leader] = state.buildSearch.count }
      return (state.source, state.buildSearch.count)
    }
    if leaders.isEmpty { return }
    source?.flush { [weak self, queue] in
      // After the batch, which was handed to the queue.
      queue.async { [weak self] in
        self?.state.access { state in
          state.buildSearch.found = state.buildSearch.found.filter { $0.value > number }
        }
      }
    }
  }

  private func searchBuilds(_ changed: Set<String>, later time: Instant) {
    let isAwaited = state.access { state in
      state.buildSearch.changed.formUnion(changed)
      return state.buildSearch.timer != nil
    }
    if isAwaited { return }
    let timer = scheduler.schedule(at: time) { [weak self] in
      guard let self else { return }
      let changed = state.access { state in
        state.buildSearch.timer = nil
        return exchange(&state.buildSearch.changed, with: [])
      }
      searchBuilds(changed)
    }
    state.access { $0.buildSearch.timer = timer }
  }

  /// What the processes of a run have done in which a program works that compares the times of files; `nil` if none
  /// does. For callers on the queue.
  package func activityOfBuild(_ name: String) -> ProcessActivity? {
    worker(name)?.buildingGroup.flatMap { monitor.activity(of: [$0]) }
  }

  /// Finds the runs in which programs work that compare the times of files, or have worked when the changes were
  /// reported.
  func findBuilds() {
    let (runs, found) = state.access { state in
      (state.machine.possibleBuilds.compactMap { state.workers[$0] }, state.buildSearch.found)
    }
    if runs.isEmpty { return }
    let building = runs.filter { worker in
      worker.isBuilding || worker.commandLeader.map { found[$0] != nil } ?? false
    }
    let names = Set(building.map(\.name))
    state.access { $0.machine.setBuilding(names) }
  }

  /// What people have saved while programs work in these services that compare the times of files, and whose restart
  /// is delayed, may be missing in what they make.
  func missDelayed(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict], by services: [String],
    of component: TaskComponent
  ) {
    let delayed = Set(component.rounds.delayedPaths)
    let late = changes.filter { change in
      delayed.contains(change.path)
        && (evidence[change.path] == .others
          || component.rounds.records[change.path]?.isEdited == true)
    }
    if !late.isEmpty { for name in services { miss(late, by: name) } }
  }

  /// What others have saved may be missing in the result of a task from now on.
  func miss(_ changes: [ChangeBatch.Change], by name: String) {
    state.access { $0.owed.miss(changes.map(\.path), by: name) }
    report(.task(name, .missed(RunTrigger(.change, changes: changes))))
  }
}
