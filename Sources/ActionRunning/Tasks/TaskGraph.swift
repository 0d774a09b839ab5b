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
  /// The place of each task.
  private let indices: [String: Int]

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
    indices = Self.indices(of: tasks.map(\.name))
    self.jobs = max(1, jobs)
    order = Self.sorted(tasks.map(Node.init))
    audiences = Self.audiences(of: tasks)
  }

  /// A graph without tasks.
  public static let empty = TaskGraph(valid: [], jobs: 1)

  /// The task with this name.
  public subscript(_ name: String) -> TaskDefinition? {
    indices[name].map { tasks[$0] }
  }

  private static func indices(of names: [String]) -> [String: Int] {
    Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// These tasks and their dependencies, direct and indirect, as far as they are included.
  package func withDependencies(
    _ names: [String], where isIncluded: (String) -> Bool = { _ in true }
  ) -> Set<String> {
    Self.closure(of: names) { self[$0]?.dependencies.filter(isIncluded) ?? [] }
  }

  /// These names, and all that can be reached from them.
  private static func closure(of names: [String], _ next: (String) -> [String]) -> Set<String> {
    var (found, rest) = (Set(names), names)
    while let name = rest.popLast() { rest += next(name).filter { found.insert($0).inserted } }
    return found
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
      /// The successful end of a run, or the readiness of a service.
      case success
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
      self.init(
        task.name, dependencies: task.dependencies,
        milestone: task.isService && task.readiness == nil ? .undefined : .success)
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
    return closure(of: names) { byName[$0]?.dependencies ?? [] }
  }

  private static func dictionary(_ nodes: [Node]) -> [String: Node] {
    Dictionary(nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

// MARK: - Cycles

extension TaskGraph {
  /// The shortest cycle through each name that is not in an earlier one; each member depends on the next.
  private static func cycles(in nodes: [Node]) -> [[String]] {
    // A dependency on something that is not a task is an error of its own.
    let tasks = nodes.filter { $0.milestone != .none }
    let ordered = Set(sorted(tasks))
    let unordered = dictionary(tasks.filter { !ordered.contains($0.name) }).mapValues(
      \.dependencies)
    var known: Set<String> = []
    var cycles: [[String]] = []
    for node in tasks where unordered[node.name] != nil && !known.contains(node.name) {
      guard let cycle = cycle(through: node.name, in: unordered) else { continue }
      known.formUnion(cycle)
      cycles.append(cycle)
    }
    return cycles
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
  /// The names, each after its dependencies, otherwise in the given order. Those that are in a cycle, or depend on one
  /// that is, are left out.
  private static func sorted(_ nodes: [Node]) -> [String] {
    let indices = Self.indices(of: nodes.map(\.name))
    let dependencies = nodes.map { Set($0.dependencies.compactMap { indices[$0] }) }
    var dependents: [[Int]] = nodes.map { _ in [] }
    for index in nodes.indices {
      for above in dependencies[index] { dependents[above].append(index) }
    }
    var missing = dependencies.map(\.count)
    // In descending order.
    var ready = Array(nodes.indices.reversed().filter { missing[$0] == 0 })
    var order: [String] = []
    while let index = ready.popLast() {
      order.append(nodes[index].name)
      for below in dependents[index] {
        missing[below] -= 1
        if missing[below] > 0 { continue }
        ready.insert(below, at: ready.firstIndex { $0 < below } ?? ready.endIndex)
      }
    }
    return order
  }
}
