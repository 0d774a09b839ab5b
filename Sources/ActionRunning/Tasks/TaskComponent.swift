import FileObservation
import SystemCalls

/// A connected component of the graph. Its work is one round, beside those of other components.
struct TaskComponent: Sendable {
  let names: Set<String>
  /// The same, each after those that it depends on.
  let order: [String]
  let rounds: RoundController
  /// Whether runs that end by themselves were active since the changes were last judged.
  var hasWorked = false
  /// The tasks whose policy is to ignore changes, and that ran since the changes were last judged.
  var ignoring: Set<String> = []
  /// Those of them that have ended, and for which the judgment waits.
  var haveIgnored: Set<String> = []
  /// The tasks that have run in the present round.
  var ran: Set<String> = []
  var awaitingBurstEnd: Decisions?
  /// What the processes of services in which builds work had done at the latest look.
  var buildActivity: [String: ProcessActivity] = [:]

  /// What the rounds have decided and waits for the end of the burst, so that the run receives all of it.
  struct Decisions {
    var paths: Set<Path> = []
    /// Whether the changes have been judged, which is passed on after the request.
    var isJudged = false
  }

  /// Goes on where these were, whose tasks have been replaced but for those that are kept.
  fileprivate mutating func takeOver(_ formers: [TaskComponent], keeping kept: Set<String>) {
    let names = names.intersection(kept)
    for former in formers {
      hasWorked = hasWorked || former.hasWorked
      ignoring.formUnion(former.ignoring.intersection(names))
      ran.formUnion(former.ran.intersection(names))
      guard let decisions = former.awaitingBurstEnd else { continue }
      let paths = decisions.paths.union(awaitingBurstEnd?.paths ?? [])
      awaitingBurstEnd = Decisions(paths: paths, isJudged: true)
    }
    // What was not judged is, when nothing works. While it is awaited that a build ends, nothing else is.
    hasWorked =
      hasWorked || rounds.isFlushing || !rounds.unjudged.isEmpty && !rounds.awaitsBuild
  }

  /// The paths that require runs, after a delay or the end of the burst.
  var duePaths: [Path] { rounds.delayedPaths + (awaitingBurstEnd?.paths ?? []) }

  /// Drops the request that waits, because another run receives its changes or the user stops the runs.
  mutating func dropRequest() {
    awaitingBurstEnd = awaitingBurstEnd?.isJudged == true ? Decisions(isJudged: true) : nil
  }
}

// MARK: - What it does

extension TaskRunner {
  /// What the tasks of a component do: the first of these that any of them does.
  enum Activity: Int {
    case stopping
    /// A run is requested or active. One that waits for the terminal may do so for long.
    case running
    /// A service runs, or the hook after it.
    case serving
    case none

    /// Whether the end of work is awaited.
    var isBusy: Bool { self == .stopping || self == .running }
  }

  /// What these tasks do: what was decided for them, and what their processes do yet.
  func activity(of names: Set<String>) -> Activity {
    let all = names.map { name -> Activity in
      let (task, phase) = (machine[name], worker(name)?.phase ?? .idle)
      if phase.isStopping { return .stopping }
      if task.isRequestedOrRuns && !task.awaitsTerminal { return .running }
      return task.phase.isUp || phase.isHooking && task.rules.isService ? .serving : .none
    }
    return all.min { $0.rawValue < $1.rawValue } ?? .none
  }
}

// MARK: - The components of a graph

extension TaskGraph {
  var components: [Set<String>] {
    var components: [Set<String>] = []
    for name in order {
      let joined = Set(self[name]?.dependencies ?? []).union([name])
      let touching = components.filter { !$0.isDisjoint(with: joined) }
      components.removeAll { !$0.isDisjoint(with: joined) }
      components.append(touching.reduce(joined) { $0.union($1) })
    }
    return components
  }
}

extension TaskRunner {
  /// Creates rounds for the components of a graph, or keeps those of components that are the same as before. The others
  /// go on where those were that had their tasks.
  ///
  /// - Parameter kept: The tasks whose definitions are the same.
  /// - Returns: The rounds that go on when `goOn` is called.
  @discardableResult
  func makeComponents(
    of graph: TaskGraph, keeping kept: Set<String> = []
  ) -> [RoundController] {
    let (source, before) = (state.access { $0.source }, components)
    var made: [RoundController] = []
    let components = graph.components.map { names in
      if let same = before.first(where: { $0.names == names }), names.isSubset(of: kept) {
        return same
      }
      let formers = before.map { ($0, count: $0.names.intersection(names).count) }
        .filter { $0.count > 0 }.sorted { $0.count > $1.count }.map(\.0)
      let rounds = RoundController(
        hasInterruptibleService: names.contains {
          graph[$0]?.rules.isInterruptibleService ?? false
        }, replacing: formers.map(\.rounds), on: queue, scheduler: scheduler, source: source)
      rounds.connect(inquiry(of: names)) { [weak self] in
        self?.areBuilding(names) ?? false
      } deliver: { [weak self] in
        self?.handle($0, of: names)
      }
      var component = TaskComponent(
        names: names, order: graph.order.filter(names.contains), rounds: rounds)
      component.takeOver(formers, keeping: kept)
      made.append(rounds)
      return component
    }
    state.access { $0.components = components }
    for component in before where !components.contains(where: { $0.rounds === component.rounds }) {
      component.rounds.end()
    }
    return made
  }

  /// What the rounds of a component ask before they judge.
  private func inquiry(of names: Set<String>) -> RoundController.Inquiry {
    { [weak self] paths in
      guard let self else { return ([], [:], true) }
      let requested = component(names)?.awaitingBurstEnd?.paths ?? []
      let owed = owed
      let open = paths.filter { path in
        !requested.contains(path) && names.contains { owed.owes($0, path) }
      }
      return (Set(open), results(of: names), haveRunInTurn(names))
    }
  }

  /// How the latest runs of these tasks have ended, except services.
  private func results(of names: Set<String>) -> [String: ExitStatus] {
    let workers = names.compactMap(worker).filter { !$0.definition.isService }
    return Dictionary(uniqueKeysWithValues: workers.map { ($0.name, $0.state.access(\.status)) })
  }

  /// Whether the tasks of the present round ran one after the other, each depending on the one before.
  private func haveRunInTurn(_ names: Set<String>) -> Bool {
    guard let component = component(names) else { return true }
    let ran = component.order.filter(component.ran.contains)
    let machine = machine
    return zip(ran, ran.dropFirst()).allSatisfy {
      machine.ancestors[$1, default: []].contains($0)
    }
  }
}
