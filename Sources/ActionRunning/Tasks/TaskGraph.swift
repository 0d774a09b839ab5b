/// Tasks, and which stands after which. One that there is, is sound: no cycle, no unknown name.
public struct TaskGraph: Sendable, Hashable {
  /// The tasks, in the order in which they were given.
  public let tasks: [TaskDefinition]
  /// The names so that each comes behind all that it stands after; otherwise in the order given.
  public let order: [String]
  /// How many tasks may run side by side; a service does not count.
  public let jobs: Int

  /// A graph; throws the first of its ``problems(of:)``.
  ///
  /// - Parameter jobs: How many tasks may run side by side, one at least.
  public init(_ tasks: [TaskDefinition], jobs: Int) throws(TaskGraphError) {
    if let problem = Self.problems(of: tasks).first { throw problem }
    self.init(sound: tasks, jobs: jobs)
  }

  private init(sound tasks: [TaskDefinition], jobs: Int) {
    self.tasks = tasks
    self.jobs = max(1, jobs)
    order = Self.sorted(tasks)
  }

  /// The task of this name.
  public subscript(_ name: String) -> TaskDefinition? {
    tasks.first { $0.name == name }
  }

  /// A graph of the tasks with these names, and of all that they stand after.
  public func restricted(to names: [String]) throws(TaskGraphError) -> TaskGraph {
    var needed: Set<String> = []
    for name in names {
      guard self[name] != nil else {
        throw .noSuchTask(name, nearest: nearestName(to: name, among: order))
      }
      needed.insert(name)
    }
    for name in order.reversed() where needed.contains(name) {
      needed.formUnion(self[name]?.after ?? [])
    }
    return TaskGraph(sound: tasks.filter { needed.contains($0.name) }, jobs: jobs)
  }

  /// All that keeps these tasks from being a graph; nothing if they are one.
  public static func problems(of tasks: [TaskDefinition]) -> [TaskGraphError] {
    let names = tasks.map(\.name)
    var seen: Set<String> = []
    var problems = names.filter { !seen.insert($0).inserted }.map(TaskGraphError.duplicateName)
    for task in tasks {
      for name in task.after where !seen.contains(name) {
        let nearest = nearestName(to: name, among: names.filter { $0 != task.name })
        problems.append(.unknownTask(task.name, after: name, nearest: nearest))
      }
    }
    problems += cycles(in: tasks).map(TaskGraphError.cycle)
    for task in tasks where task.runsOn && task.readiness == nil {
      guard let waiting = tasks.first(where: { $0.after.contains(task.name) }) else { continue }
      problems.append(.serviceWithoutReadiness(task.name, awaitedBy: waiting.name))
    }
    for task in tasks {
      if case .url(let url)? = task.readiness?.sign, HTTPAddress(url) == nil {
        problems.append(.unusableAddress(task.name, url: url))
      }
    }
    return problems
  }
}

// MARK: - Order

extension TaskGraph {
  private static func sorted(_ tasks: [TaskDefinition]) -> [String] {
    let places = Dictionary(
      tasks.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let after = tasks.map { Set($0.after.compactMap { places[$0] }) }
    var isPlaced = Array(repeating: false, count: tasks.count)
    var order: [String] = []
    // What may come is looked for from the front each time, since the order given counts.
    var front = 0
    var place = 0
    while place < tasks.count {
      if isPlaced[place] || !after[place].allSatisfy({ isPlaced[$0] }) {
        place += 1
        continue
      }
      isPlaced[place] = true
      order.append(tasks[place].name)
      while front < tasks.count && isPlaced[front] { front += 1 }
      place = front
    }
    return order
  }

  /// One cycle for each group of tasks that stand after each other, each member after the next.
  private static func cycles(in tasks: [TaskDefinition]) -> [[String]] {
    let after = Dictionary(tasks.map { ($0.name, $0.after) }, uniquingKeysWith: { one, _ in one })
    var finished: Set<String> = []
    var cycles: [[String]] = []
    for task in tasks {
      var trail: [(name: String, rest: ArraySlice<String>)] = []
      var places: [String: Int] = [:]
      func enter(_ name: String) {
        places[name] = trail.count
        trail.append((name, (after[name] ?? [])[...]))
      }
      if !finished.contains(task.name) { enter(task.name) }
      while let last = trail.indices.last {
        guard let next = trail[last].rest.popFirst() else {
          let name = trail.removeLast().name
          finished.insert(name)
          places[name] = nil
          continue
        }
        if let start = places[next] {
          cycles.append(trail[start...].map(\.name))
          finished.formUnion(trail.map(\.name))
          (trail, places) = ([], [:])
        } else if !finished.contains(next) && after[next] != nil {
          enter(next)
        }
      }
    }
    return cycles
  }
}
