import FileObservation

/// A batch, divided among the tasks that watch its changes. Tasks that watch the same share one list of changes.
struct BatchParts {
  /// The changes that one task receives.
  struct Part {
    let name: String
    fileprivate(set) var changes: [ChangeBatch.Change]
    /// The list that it shares with other tasks; `nil` if it is its own.
    fileprivate var list: Int?

    mutating func remove(where isRemoved: (ChangeBatch.Change) -> Bool) -> [ChangeBatch.Change] {
      let removed = changes.filter(isRemoved)
      if removed.isEmpty { return [] }
      changes.removeAll(where: isRemoved)
      list = nil
      return removed
    }
  }

  private let batch: ChangeBatch
  private var lists: [[ChangeBatch.Change]] = []
  /// The numbers of the lists, by task.
  private var numbers: [String: Int] = [:]

  init(_ batch: ChangeBatch, _ audiences: [TaskGraph.Audience]) {
    self.batch = batch
    // The whole batch is the first one.
    lists = [batch.changes]
    for audience in audiences {
      let own = audience.triggers.changes(in: batch.changes)
      let isWhole = own.count == batch.changes.count
      if !isWhole { lists.append(own) }
      for name in audience.names { numbers[name] = isWhole ? 0 : lists.count - 1 }
    }
  }

  /// The changes that the task watches.
  subscript(name: String) -> Part {
    let list = numbers[name]
    return Part(name: name, changes: list.map { lists[$0] } ?? [], list: list)
  }

  /// The changes that any of these parts has, in the order of the batch.
  func union(of parts: [Part]) -> [ChangeBatch.Change] {
    guard let first = parts.first else { return [] }
    if parts.allSatisfy({ $0.list != nil && $0.list == first.list }) { return first.changes }
    if let whole = parts.first(where: { $0.list == 0 }) { return whole.changes }
    let paths = parts.reduce(into: Set()) { $0.formUnion($1.changes) }
    return batch.changes.filter(paths.contains)
  }

  /// The lists of these parts, each with the tasks that share it.
  func groups(_ parts: [Part]) -> [(batch: ChangeBatch, names: [String])] {
    let shared = Dictionary(grouping: parts.filter { $0.list != nil }) { $0.list }.values
    let own = parts.filter { $0.list == nil }.map { [$0] }
    return (shared + own).compactMap { group in
      group.first.map { first in
        let part = ChangeBatch(
          number: batch.number, changes: first.changes, overflow: batch.overflow)
        return (part, group.map(\.name))
      }
    }
  }
}

extension TaskGraph {
  /// The tasks that are started by the same changes.
  struct Audience: Sendable, Hashable {
    let triggers: TaskTriggers
    var names: [String]
  }

  static func audiences(of tasks: [TaskDefinition]) -> [Audience] {
    var audiences: [Audience] = []
    var indices: [TaskTriggers: Int] = [:]
    for task in tasks {
      if let index = indices[task.triggers] {
        audiences[index].names.append(task.name)
      } else {
        indices[task.triggers] = audiences.count
        audiences.append(Audience(triggers: task.triggers, names: [task.name]))
      }
    }
    return audiences
  }
}
