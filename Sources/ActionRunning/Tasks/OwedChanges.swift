import FileObservation
import SystemCalls

/// The ledger of owed changes: for each task, the changes that none of its runs has received.
///
/// A change enters the ledger when it is reported, before it is known whether it leads to a run. It
/// leaves it when a run of the task starts, or when nothing proves to be owed for it. No other type
/// holds changes.
struct OwedChanges: Sendable {
  /// The changes that one task is owed.
  private struct Account {
    /// The net changes, in the order in which the paths first appeared.
    var changes: [ChangeBatch.Change] = []
    private var indices: [Path: Int] = [:]
    /// The former paths of renamed entries.
    private var formerPaths: Set<Path> = []
    /// Whether the kernel dropped events, so that paths may be missing.
    var isIncomplete = false
    /// The outputs that request no run. The next run receives them.
    var setAside: Set<Path> = []

    /// Whether a change requests a run.
    var requestsRun: Bool { changes.contains { !setAside.contains($0.path) } }

    /// Adds later changes: one net change for each path.
    mutating func add(_ others: some Sequence<ChangeBatch.Change>) {
      for change in others {
        if let former = change.from { formerPaths.insert(former) }
        setAside.remove(change.path)
        if let index = indices[change.path] {
          changes[index] = changes[index].followed(by: change)
        } else {
          indices[change.path] = changes.count
          changes.append(change)
        }
      }
    }

    func contains(_ path: Path) -> Bool {
      indices[path] != nil || formerPaths.contains(path)
    }

    /// Removes the changes of these paths. A rename of which only the new path is removed remains
    /// as the removal of the former one.
    mutating func remove(_ paths: Set<Path>) {
      let rest = changes.compactMap { change -> ChangeBatch.Change? in
        guard paths.contains(change.path) else { return change }
        guard let former = change.from, !paths.contains(former) else { return nil }
        return ChangeBatch.Change(path: former, kind: .removed, type: .unknown)
      }
      if rest.count == changes.count && rest == changes { return }
      let (wasIncomplete, setAside) = (isIncomplete, setAside)
      self = Account()
      add(rest)
      self.setAside = setAside.subtracting(paths)
      isIncomplete = wasIncomplete && !rest.isEmpty
    }
  }

  private var accounts: [String: Account] = [:]
  /// What the latest run of each task was started for.
  private var received: [String: RunTrigger] = [:]

  /// Adds changes that a task watches.
  ///
  /// - Parameter isIncomplete: Whether the kernel dropped events, so that paths may be missing.
  mutating func add(_ changes: [ChangeBatch.Change], isIncomplete: Bool, to task: String) {
    accounts[task, default: Account()].add(changes)
    if isIncomplete { accounts[task]?.isIncomplete = true }
  }

  /// Whether the task is owed a change that requests a run.
  func owes(_ task: String) -> Bool { accounts[task]?.requestsRun ?? false }

  /// Whether any of the tasks is owed the change of a path.
  func owes(_ path: Path, to tasks: some Sequence<String>) -> Bool {
    tasks.contains { accounts[$0]?.contains(path) ?? false }
  }

  /// Whether the task is owed the change of any of the paths.
  func owes(_ task: String, anyOf paths: [Path]) -> Bool {
    accounts[task].map { paths.contains(where: $0.contains) } ?? false
  }

  /// The changes that the task is owed, as a trigger with this reason.
  func trigger(of task: String, _ reason: RunTrigger.Reason = .change) -> RunTrigger {
    guard let account = accounts[task] else { return RunTrigger(reason) }
    return RunTrigger(account.isIncomplete ? .overflow : reason, changes: account.changes)
  }

  /// A run of the task starts: it receives all that the task is owed.
  ///
  /// A command that is only restarted because it ended receives nothing, as it is the same as
  /// before.
  mutating func start(_ task: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    if reason == .restart {
      settle(waitingOutputs(of: task).map(\.path), to: [task])
      return RunTrigger(.restart)
    }
    let trigger = take(task, reason)
    received[task] = trigger
    return trigger
  }

  /// The run of the task is sent a signal, with which it receives all that the task is owed.
  mutating func signal(_ task: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    let before = received[task]
    let trigger = take(task, reason)
    received[task] = before.map { $0.followed(by: trigger) } ?? trigger
    return trigger
  }

  private mutating func take(_ task: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    defer { accounts[task] = nil }
    return trigger(of: task, reason)
  }

  /// The run of the task was stopped before its end: the task is owed again what that received.
  mutating func interrupt(_ task: String) {
    guard let trigger = received.removeValue(forKey: task), !trigger.changes.isEmpty else { return }
    let later = accounts.removeValue(forKey: task)
    add(trigger.changes, isIncomplete: trigger.reason == .overflow, to: task)
    if let later { add(later.changes, isIncomplete: later.isIncomplete, to: task) }
  }

  /// The run of the task has ended by itself.
  mutating func ended(_ task: String) {
    received[task] = nil
  }

  /// These outputs request no run of the tasks. They stay owed.
  mutating func setAside(_ paths: [Path], for tasks: some Sequence<String>) {
    for task in tasks {
      guard let account = accounts[task] else { continue }
      accounts[task]?.setAside.formUnion(paths.filter(account.contains))
    }
  }

  /// The outputs that wait for the next run of the task.
  func waitingOutputs(of task: String) -> [ChangeBatch.Change] {
    accounts[task].map { account in
      account.changes.filter { account.setAside.contains($0.path) }
    } ?? []
  }

  /// Nothing is owed for these paths.
  mutating func settle(_ paths: [Path], to tasks: some Sequence<String>) {
    let paths = Set(paths)
    for task in tasks {
      accounts[task]?.remove(paths)
      if accounts[task]?.changes.isEmpty ?? false { accounts[task] = nil }
    }
  }

  /// Removes all accounts, and returns the changes that were owed. What the runs of these tasks have
  /// received is kept.
  mutating func close(keeping kept: Set<String>) -> RunTrigger? {
    defer {
      accounts = [:]
      received = received.filter { kept.contains($0.key) }
    }
    var all = Account()
    for task in accounts.keys.sorted() {
      guard let account = accounts[task] else { continue }
      all.add(account.changes.filter { !all.contains($0.path) })
      all.isIncomplete = all.isIncomplete || account.isIncomplete
    }
    if all.changes.isEmpty { return nil }
    return RunTrigger(all.isIncomplete ? .overflow : .change, changes: all.changes)
  }
}

extension RunTrigger {
  /// This trigger and a later one.
  fileprivate func followed(by later: RunTrigger) -> RunTrigger {
    var both = OwedChanges()
    for trigger in [self, later] {
      both.add(trigger.changes, isIncomplete: trigger.reason == .overflow, to: "")
    }
    return both.trigger(of: "", later.reason)
  }
}

extension ChangeBatch.Change {
  /// The net change of this change and a later one to the same path.
  ///
  /// A path that was created and then removed is removed, since a run may have seen it.
  func followed(by later: Self) -> Self {
    var net = later
    switch (kind, later.kind) {
    case (.removed, .created): net.kind = .modified
    case (.created, .modified), (.created, .metadata): net.kind = .created
    case (.modified, .metadata): net.kind = .modified
    case (.renamed, .modified), (.renamed, .metadata):
      net.kind = .renamed
      net.from = from
    default: break
    }
    return net
  }
}
