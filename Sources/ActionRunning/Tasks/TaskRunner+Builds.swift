import FileObservation
import Support
import SystemCalls

// Saves while programs work that compare the times of files.

/// The searches for programs that compare the times of files, among the processes of runs.
struct BuildSearch {
  /// A task that has been found to build.
  struct Builder {
    /// Where it did.
    var directory: Path
    /// The files that people have saved while it built, which it may have read before, and when; until it has ended and
    /// a build begins.
    var saves: [Path: FileTime] = [:]
  }

  static let shortestPause = Duration.milliseconds(10)
  /// A pause is at least so many times as long as the processor time of the search before it.
  static let share = 25

  /// The leaders of builds, by the numbers of the searches that found them, until their changes are submitted.
  var found: [pid_t: Int] = [:]
  var count = 0
  /// When the next search may begin.
  var next = Instant(offset: .zero)
  /// The tasks whose files were saved since the last one; if there are any, the next one is planned.
  var changed: Set<String> = []
  /// By their names, which another graph may have as well.
  var builders: [String: Builder] = [:]

  /// Whether a word of a command may name such a program: make, also as in cmake, and others.
  static func mayName(_ word: [UInt8]) -> Bool {
    ["make", "ninja", "meson", "scons"].contains { word.firstIndex(of: $0) != nil }
  }
}

extension TaskComponent {
  /// Whether others are proved to have changed a path, or it is not known who has, and they are known to edit it.
  func isSaved(_ path: Path, _ evidence: [Path: Verdict]) -> Bool {
    switch evidence[path] {
    case .others: true
    case .run: false
    case .unknown, nil: self.records[path]?.isEdited == true
    }
  }
}

extension TaskRunner {
  /// Connects an observer whose batches are submitted, before it is started. There may be several at the same time.
  package func attach(_ observer: FileObserver) {
    observer.whenChangesArrive { [weak self] isFirst, saved in
      self?.changesArrived(isFirst: isFirst, saved: saved)
    }
    queue.async { [weak self] in
      if let self { observer.setFrequentPaths(state.access(\.frequentPaths)) }
    }
  }

  /// Notes that changes have been reported, long before they are submitted. May be called on any thread, as early
  /// as possible: what the tasks do after the change proves nothing. If a save stops a run because a program works in
  /// it that compares the times of files, the source is asked for the changes at once.
  ///
  /// - Parameters:
  ///   - isFirst: Whether a burst begins with them.
  ///   - saved: The files that existed before, and are complete.
  func changesArrived(isFirst: Bool, saved: [Path]) {
    if isFirst { monitor.look(beginsBurst: true) }
    if saved.isEmpty { return }
    queue.async { [weak self] in
      guard let self else { return }
      if machine.runsOutdatedIfBuilding.isEmpty { return }
      let changes = saved.map { ChangeBatch.Change(path: $0, kind: .modified, type: .file) }
      let audiences = graph.audiences.filter { changes.contains(where: $0.triggers.isTriggered) }
      if !audiences.isEmpty { searchBuilds(Set(audiences.flatMap(\.names))) }
    }
  }

  /// Flushes the source if a change of these tasks stops a run that builds. They are searched as often as is cheap.
  private func searchBuilds(_ changed: Set<String>) {
    let (next, isPlanned) = state.access { state in
      defer { state.buildSearch.changed.formUnion(changed) }
      return (state.buildSearch.next, !state.buildSearch.changed.isEmpty)
    }
    if isPlanned { return }
    if scheduler.now >= next { return searchBuilds() }
    _ = scheduler.schedule(at: next) { [weak self] in self?.searchBuilds() }
  }

  private func searchBuilds() {
    let now = scheduler.now
    let changed = state.access { exchange(&$0.buildSearch.changed, with: []) }
    let runs = machine.runsOutdatedIfBuilding(whenChanged: changed)
    if runs.isEmpty { return }
    let before = processorTimeOfThread()
    let builds = runs.filter(isBuildingNow).compactMap { worker($0)?.commandGroup?.leader }
    let cost = processorTimeOfThread() - before
    let (source, number) = state.access { state in
      state.buildSearch.next = now.advanced(
        by: max(BuildSearch.shortestPause, cost * BuildSearch.share))
      state.buildSearch.count += 1
      for leader in builds { state.buildSearch.found[leader] = state.buildSearch.count }
      return (state.source, state.buildSearch.count)
    }
    if builds.isEmpty { return }
    source?.flush { [weak self, queue] in
      // After the batch, which was handed to the queue.
      queue.async { [weak self] in
        self?.state.access { state in
          state.buildSearch.found = state.buildSearch.found.filter { $0.value > number }
        }
      }
    }
  }

  /// A command that names such a program is taken for a build: it may have ended when the first save is reported.
  func noteNamedBuild(_ worker: TaskWorker) {
    let command = worker.definition.command
    guard command.words.contains(where: BuildSearch.mayName) else { return }
    let path = command.directory?.absolute(from: directory) ?? directory
    state.access { state in
      state.buildSearch.builders.merge([worker.name: .init(directory: path)]) { known, _ in known }
    }
  }

  /// Whether a program that compares times works for the command of a task, whose directory is noted then.
  private func isBuildingNow(_ name: String) -> Bool {
    guard let path = worker(name)?.commandGroup?.buildDirectory else { return false }
    state.access {
      $0.buildSearch.builders[name, default: .init(directory: path)].directory = path
    }
    return true
  }

  /// What the processes of a command have done, and whether it builds; `nil` if it does not run. On the queue.
  package func activity(of name: String) -> (done: ProcessActivity, isBuild: Bool)? {
    guard let group = worker(name)?.commandGroup, let done = monitor.activity(of: [group]) else {
      return nil
    }
    return (done, group.buildDirectory != nil)
  }

  /// Finds the runs that build, or did when the changes were reported. Returns their tasks.
  func findBuilds() -> Set<String> {
    let runs = machine.possibleBuilds
    if runs.isEmpty { return [] }
    let found = state.access { $0.buildSearch.found }
    let builds = Set(
      runs.filter { name in
        let leader = worker(name)?.commandGroup?.leader
        return isBuildingNow(name) || leader.map { found[$0] != nil } ?? false
      })
    state.access { $0.machine.setBuilding(builds) }
    return builds
  }

  /// Whether a service among these builds, and its processes have done something since this was asked last.
  func areBuilding(_ component: TaskComponent) -> Bool {
    var present: [String: ProcessActivity] = [:]
    for name in component.names {
      if let work = activity(of: name), work.isBuild { present[name] = work.done }
    }
    let former = exchange(&component.buildActivity, with: present)
    return present.contains { $1.isRunning || $1 != former[$0] }
  }

  /// What others have saved may be missing in the result of a task from now on.
  func miss(_ changes: [ChangeBatch.Change], by name: String) {
    state.access { $0.owed.miss(changes.map(\.path), by: name) }
    report(.task(name, .missed(RunTrigger(.change, changes: changes))))
  }

  /// Remembers what people have saved while builds worked: what those have written later may be without it.
  func noteSaves(_ parts: BatchParts, _ evidence: [Path: Verdict], in builds: Set<String>) {
    let builders = state.access { $0.buildSearch.builders }
    let graph = graph
    let hasFormer = allWorkers.contains { graph[$0.name] == nil && builders[$0.name] != nil }
    for component in components
    where hasFormer || component.names.contains(where: { builders[$0] != nil }) {
      let proved = component.provedOutputs
      let isBuilding = !builds.isDisjoint(with: component.names)
      var saved: [Path] = []
      for name in component.names {
        for change in parts[name].prefix(ContentReader.mostFiles) {
          let (path, kind) = (change.path, FileKind(change.path))
          // What is reported too late to stop a build was hardly made by it, unless it is an output.
          let maySave =
            component.editedKinds.contains(kind)
            || !isBuilding && change.kind == .modified && !FileKind.isBuilt(path)
          if component.isSaved(path, evidence)
            || evidence[path] != .run && maySave && !proved.contains(path)
          {
            saved.append(path)
          }
        }
      }
      let isStopping = activity(of: component.names) == .stopping
      noteSaves(saved, in: component, isBuilding: isBuilding || isStopping)
    }
  }

  /// - Parameter isBuilding: Whether a build works, or is being stopped, or was active when the changes were reported.
  func noteSaves(_ paths: [Path], in component: TaskComponent, isBuilding: Bool) {
    // Also of those that are being ended.
    let (workers, graph) = (allWorkers, graph)
    // One with a name of former times may be a builder of this component.
    let builders = workers.filter { component.names.contains($0.name) || graph[$0.name] == nil }
    let runs = builders.flatMap { worker in
      var spans = worker.state.access(\.spans)
      let isDying = worker.isEnding || worker.phase.isStopping
      // While a server runs, nothing is read that was saved; a build that has just ended may have read it.
      if isDying || isBuilding || !worker.definition.isService, let span = spans.popLast() {
        spans.append((span.began, isDying ? .latest() : span.ended ?? .latest()))
      }
      return spans.map { (worker.name, $0.began, $0.ended) }
    }
    for path in paths {
      guard let status = try? FileStatus(of: path, followsLinks: true), status.type == .file else {
        continue
      }
      let time = status.modified
      // What is older than the build is older than all that it writes, whatever it holds.
      for case (let name, let began, let ended?) in runs where began <= time && time <= ended {
        state.access {
          $0.buildSearch.builders[name]?.saves.merge([path: time], uniquingKeysWith: min)
        }
      }
    }
  }

  /// Whether the process of a task may start. Otherwise `retry` is called on the queue when what builds have written
  /// looks older than what people have saved since. If that fails, the saves may be missing from now on.
  func outdateOutputs(before name: String, orCall retry: @escaping @Sendable () -> Void) -> Bool {
    let component = component(of: name)
    let active = allWorkers.filter { $0.name != name && ![.idle, .ended].contains($0.phase) }
    // What the others have made is taken for up to date as well, unless they work yet, and make more.
    let own = component?.names.subtracting(active.map(\.name)) ?? []
    // Or one that has another name by now.
    let known = state.access { $0.buildSearch.builders }
    let former = Set(known.keys).subtracting(graph.order).subtracting(active.map(\.name))
    let (saves, isOutdating) = state.access { state in
      var saves: [Path: FileTime] = [:]
      for builder in (known[name] == nil ? [] : own).union(former) {
        let own = state.buildSearch.builders[builder]?.saves ?? [:]
        saves.merge(own, uniquingKeysWith: min)
        state.buildSearch.builders[builder]?.saves = [:]
      }
      for builder in former { state.buildSearch.builders[builder] = nil }
      if !saves.isEmpty { state.outdatingCount += 1 }
      return (saves, state.outdatingCount > 0)
    }
    if !isOutdating { return true }
    // Of a former task, it is not known which one has taken its place.
    let isOfFormer = former.contains { known[$0]?.saves.isEmpty == false }
    let writers = isOfFormer ? components : [component].compactMap(\.self)
    let proved = writers.reduce(into: Set()) { $0.formUnion($1.provedOutputs) }
    let triggers = writers.flatMap(\.names).compactMap { worker($0)?.definition.triggers }
    // Most builds work below the session's directory, but one may be told another one.
    let others = known.values.map(\.directory).filter { !$0.isWithin(directory) }
    let outputs = BuildOutputs(directories: Set(others) + [directory])
    outdating.async { [self] in
      let isComplete =
        saves.values.min().map { first in
          outputs.outdate(before: first) { path in
            let isDeclared = triggers.contains {
              $0.writes.contains(path, isDirectory: false, watched: $0.watched)
            }
            return saves[path] == nil
              && (isDeclared || proved.contains(path) || FileKind.isBuilt(path))
          }
        } ?? true
      queue.async { [self] in
        if !saves.isEmpty { state.access { $0.outdatingCount -= 1 } }
        if !isComplete {
          miss(saves.keys.sorted().map { .init(path: $0, kind: .modified, type: .file) }, by: name)
        }
        retry()
      }
    }
    return false
  }
}
