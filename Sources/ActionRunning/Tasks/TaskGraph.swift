import Support

/// A validated, acyclic dependency graph of tasks.
public struct TaskGraph: Sendable, Hashable {
  /// The tasks, in the order in which they were given.
  public let tasks: [TaskDefinition]
  /// The names in an order in which each task follows all its dependencies. Where the dependencies leave
  /// a choice, tasks are in the order in which they were given.
  public let order: [String]
  /// How many tasks may run at the same time. Services do not count.
  public let jobs: Int
  /// The tasks that are started by the same changes, which are looked for once.
  let audiences: [Audience]

  /// Makes a graph, or throws the first of its ``problems(of:)``.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, with dependencies among each other only.
  ///   - jobs: How many tasks may run at the same time, at least one.
  public init(_ tasks: [TaskDefinition], jobs: Int) throws(TaskGraphError) {
    if let problem = Self.problems(of: tasks).first { throw problem }
    self.init(valid: tasks, jobs: jobs)
  }

  init(valid tasks: [TaskDefinition], jobs: Int) {
    self.tasks = tasks
    self.jobs = max(1, jobs)
    order = Self.sorted(tasks)
    audiences = Self.audiences(of: tasks)
  }

  /// A graph without tasks.
  public static let empty = TaskGraph(valid: [], jobs: 1)

  /// The task with this name.
  public subscript(_ name: String) -> TaskDefinition? {
    tasks.first { $0.name == name }
  }

  /// These tasks and their dependencies, direct and indirect, as far as they are included.
  package func withDependencies(
    _ names: [String], where isIncluded: (String) -> Bool = { _ in true }
  ) -> Set<String> {
    order.reversed().reduce(into: Set(names)) { names, name in
      guard names.contains(name), let task = self[name] else { return }
      names.formUnion(task.dependencies.filter(isIncluded))
    }
  }

  /// All problems that keep these tasks from being a graph.
  public static func problems(of tasks: [TaskDefinition]) -> [TaskGraphError] {
    problems(of: tasks.map(Node.init))
      + tasks.compactMap { task in
        guard case .url(let url, _)? = task.readiness?.condition,
          HTTPAddress(url, allowsTLS: true) == nil
        else { return nil }
        return .unusableAddress(task: task.name, url: url)
      }
  }
}

// MARK: - Nodes

extension TaskGraph {
  /// A name in the graph with its dependencies: a task, or something else that depends on tasks.
  package struct Node: Sendable, Hashable {
    /// What a dependent waits for.
    package enum Milestone: Sendable, Hashable {
      /// The successful end of a run.
      case success
      /// The readiness of a service.
      case readiness
      /// A service for which no readiness is defined: no dependent could ever begin.
      case undefined
      /// Not a task: nothing may depend on it.
      case none
    }

    package var name: String
    package var dependencies: [String]
    package var milestone: Milestone

    package init(_ name: String, dependencies: [String] = [], milestone: Milestone = .success) {
      self.name = name
      self.dependencies = dependencies
      self.milestone = milestone
    }

    init(_ task: TaskDefinition) {
      let whenReady: Milestone = task.readiness == nil ? .undefined : .readiness
      self.init(
        task.name, dependencies: task.dependencies, milestone: task.isService ? whenReady : .success
      )
    }
  }

  /// All problems of the names and dependencies.
  package static func problems(of nodes: [Node]) -> [TaskGraphError] {
    var known: Set<String> = []
    var problems = nodes.map(\.name).filter { !known.insert($0).inserted }
      .map(TaskGraphError.duplicateName)
    let byName = dictionary(nodes)
    for node in nodes {
      for dependency in node.dependencies {
        if let found = byName[dependency] {
          if found.milestone == .none {
            problems.append(.notATask(dependency, dependent: node.name))
          }
        } else {
          let names = nodes.filter { $0.milestone != .none && $0.name != node.name }.map(\.name)
          problems.append(
            .unknownDependency(
              dependency, dependent: node.name, nearest: nearestName(to: dependency, among: names)))
        }
      }
    }
    problems += cycles(in: nodes).map(TaskGraphError.cycle)
    for node in nodes where node.milestone == .undefined {
      guard let dependent = nodes.first(where: { $0.dependencies.contains(node.name) }) else {
        continue
      }
      problems.append(.serviceWithoutReadiness(node.name, dependent: dependent.name))
    }
    return problems
  }

  /// These names and those of all their dependencies, direct and indirect.
  package static func names(
    neededBy names: [String], in nodes: [Node]
  ) throws(TaskGraphError) -> Set<String> {
    let byName = dictionary(nodes)
    for name in names where byName[name] == nil {
      throw .unknownTask(name, nearest: nearestName(to: name, among: nodes.map(\.name)))
    }
    var needed = Set(names)
    var rest = names
    while let name = rest.popLast() {
      for dependency in byName[name]?.dependencies ?? [] where needed.insert(dependency).inserted {
        rest.append(dependency)
      }
    }
    return needed
  }

  private static func dictionary(_ nodes: [Node]) -> [String: Node] {
    Dictionary(nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

// MARK: - Cycles

extension TaskGraph {
  /// The shortest cycle through each name that is not in an earlier one; each member depends on the next,
  /// and the last on the first.
  private static func cycles(in nodes: [Node]) -> [[String]] {
    let unordered = unordered(nodes)
    var known: Set<String> = []
    var cycles: [[String]] = []
    for node in nodes where unordered[node.name] != nil && !known.contains(node.name) {
      guard let cycle = cycle(through: node.name, in: unordered) else { continue }
      known.formUnion(cycle)
      cycles.append(cycle)
    }
    return cycles
  }

  /// The dependencies of all tasks that are in a cycle, or depend on one that is.
  private static func unordered(_ nodes: [Node]) -> [String: [String]] {
    // A dependency on something that is not a task is an error of its own.
    let tasks = dictionary(nodes.filter { $0.milestone != .none })
    let edges = dictionary(nodes).mapValues { $0.dependencies.filter { tasks[$0] != nil } }
    var dependents: [String: [String]] = [:]
    var missing: [String: Int] = [:]
    for (name, dependencies) in edges.mapValues(Set.init) {
      missing[name] = dependencies.count
      for dependency in dependencies { dependents[dependency, default: []].append(name) }
    }
    var ordered = missing.filter { $0.value == 0 }.map(\.key)
    while let name = ordered.popLast() {
      missing[name] = nil
      for dependent in dependents[name] ?? [] {
        missing[dependent, default: 0] -= 1
        if missing[dependent] == 0 { ordered.append(dependent) }
      }
    }
    return edges.filter { missing[$0.key] != nil }
  }

  /// The shortest way along the dependencies from a name back to it.
  private static func cycle(
    through start: String, in dependencies: [String: [String]]
  ) -> [String]? {
    var previous: [String: String] = [:]
    var visited = [start]
    var next = 0
    while next < visited.count {
      let name = visited[next]
      next += 1
      for dependency in dependencies[name] ?? [] {
        if dependency == start {
          var way = [name]
          while let step = previous[way[way.count - 1]] { way.append(step) }
          return way.reversed()
        }
        if dependencies[dependency] != nil, previous[dependency] == nil {
          previous[dependency] = name
          visited.append(dependency)
        }
      }
    }
    return nil
  }
}

// MARK: - Order

extension TaskGraph {
  private static func sorted(_ tasks: [TaskDefinition]) -> [String] {
    let indices = Dictionary(
      tasks.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let dependencies = tasks.map { Set($0.dependencies.compactMap { indices[$0] }) }
    var isAdded = Array(repeating: false, count: tasks.count)
    var order: [String] = []
    // The search restarts at the first task that was not added, since the given order counts.
    var front = 0
    var index = 0
    while index < tasks.count {
      if isAdded[index] || !dependencies[index].allSatisfy({ isAdded[$0] }) {
        index += 1
        continue
      }
      isAdded[index] = true
      order.append(tasks[index].name)
      while front < tasks.count && isAdded[front] { front += 1 }
      index = front
    }
    return order
  }
}
