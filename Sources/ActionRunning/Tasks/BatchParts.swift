import FileObservation

/// A batch, divided among the tasks that watch its changes. Tasks that watch the same share one list of changes.
struct BatchParts {
  private let batch: ChangeBatch
  private var lists: [String: [ChangeBatch.Change]] = [:]

  init(_ batch: ChangeBatch, _ audiences: [TaskGraph.Audience]) {
    self.batch = batch
    for audience in audiences {
      let own = audience.triggers.changes(in: batch.changes)
      let list = own.count == batch.changes.count ? batch.changes : own
      for name in audience.names { lists[name] = list }
    }
  }

  /// The changes that the task watches.
  subscript(name: String) -> [ChangeBatch.Change] { lists[name] ?? [] }

  /// The changes that any of these lists has, in the order of the batch. Those that are shared are compared at once.
  func union(of lists: [[ChangeBatch.Change]]) -> [ChangeBatch.Change] {
    guard let longest = lists.max(by: { $0.count < $1.count }) else { return [] }
    if longest.count == batch.changes.count || lists.allSatisfy({ $0 == longest }) {
      return longest
    }
    let all = lists.reduce(into: Set()) { $0.formUnion($1) }
    return batch.changes.filter(all.contains)
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
