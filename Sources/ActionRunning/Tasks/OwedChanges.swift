import FileObservation
import SystemCalls

/// Changes of several batches: one net change for each path. Copies share their storage.
struct NetChanges: Sendable, Equatable {
  /// In the order in which the paths first appeared.
  private(set) var changes: [ChangeBatch.Change] = []
  private var indices: [Path: Int] = [:]
  private var formerPaths: Set<Path> = []

  /// - Parameter changes: In the order in which they were made.
  init(_ changes: some Sequence<ChangeBatch.Change> = []) {
    add(changes)
  }

  /// Adds later changes, all of which were made by the same time.
  mutating func add(_ others: some Sequence<ChangeBatch.Change>) {
    let left = others.compactMap(\.from)
    let others = others.map { change in
      change.from.flatMap { self[$0]?.from }.map(change.renamed) ?? change
    }
    for path in left {
      formerPaths.insert(path)
      // Unless a later change tells what is there.
      if let index = indices[path] {
        changes[index] = ChangeBatch.Change(path: path, kind: .removed, type: changes[index].type)
      }
    }
    var replaced: Set<Path> = []
    for change in others {
      guard let index = indices[change.path] else {
        append(change)
        continue
      }
      let former = changes[index].from
      changes[index] = changes[index].followed(by: change)
      if let former, changes[index].from != former { replaced.insert(former) }
    }
    // What was renamed to a path is gone, and so is what it was before.
    if replaced.isEmpty { return }
    let told = Set(changes.compactMap(\.from))
    for path in replaced.subtracting(told).sorted() where indices[path] == nil {
      append(ChangeBatch.Change(path: path, kind: .removed, type: .unknown))
    }
  }

  private mutating func append(_ change: ChangeBatch.Change) {
    indices[change.path] = changes.count
    changes.append(change)
  }

  private subscript(path: Path) -> ChangeBatch.Change? { indices[path].map { changes[$0] } }

  mutating func moveToFront(_ path: Path) {
    guard let index = indices[path], index > 0 else { return }
    var all = changes
    all.insert(all.remove(at: index), at: 0)
    self = NetChanges(all)
  }

  /// Whether it has a change of this path, or of an entry that had this path.
  func contains(_ path: Path) -> Bool {
    indices[path] != nil || formerPaths.contains(path)
  }
}

/// The ledger of owed changes: for each task, the changes that none of its runs has received.
///
/// A change enters it when it is reported, and leaves it when a run of the task starts, or when nothing proves to be
/// owed for it. No other type holds changes.
struct OwedChanges: Sendable {
  /// The changes that one task is owed. Tasks that are owed the same share it.
  private struct Account: Equatable {
    var net = NetChanges()
    /// Whether the kernel dropped events, so that paths may be missing.
    var isIncomplete = false
    /// The outputs that request no run. The next run receives them.
    var setAside: Set<Path> = []
    /// The path whose change requires the next run. It is the first one.
    private(set) var cause: Path?
    /// Whether the next run receives the changes even if it is started because it ended.
    var isForNextStart = false

    /// Whether a change requests a run.
    var requestsRun: Bool { net.changes.contains { !setAside.contains($0.path) } }

    /// The changes, as a batch, which is usually no copy. What runs have written comes last: it is no reason to run.
    var batch: ChangeBatch {
      let outputs = waitingOutputs
      let changes =
        outputs.isEmpty
        ? net.changes : net.changes.filter { !setAside.contains($0.path) } + outputs
      return ChangeBatch(number: 0, changes: changes, overflow: isIncomplete)
    }

    var waitingOutputs: [ChangeBatch.Change] {
      setAside.isEmpty ? [] : net.changes.filter { setAside.contains($0.path) }
    }

    /// What remains of it when a run has received it.
    var received: Account {
      var account = self
      if !setAside.isEmpty { (account.net, account.setAside) = (NetChanges(batch.changes), []) }
      account.isForNextStart = false
      return account
    }

    mutating func add(_ changes: [ChangeBatch.Change], _ overflow: Bool) {
      if !setAside.isEmpty { for change in changes { setAside.remove(change.path) } }
      net.add(changes)
      isIncomplete = isIncomplete || overflow
    }

    mutating func add(_ other: Account) { add(other.batch.changes, other.isIncomplete) }

    mutating func setCause(_ path: Path) {
      cause = path
      net.moveToFront(path)
    }

    /// Removes the changes of these paths. A rename of which only the new path is removed becomes a removal.
    mutating func remove(_ paths: Set<Path>) {
      let rest = net.changes.compactMap { change -> ChangeBatch.Change? in
        guard paths.contains(change.path) else { return change }
        guard let former = change.from, !paths.contains(former) else { return nil }
        return ChangeBatch.Change(path: former, kind: .removed, type: .unknown)
      }
      if rest == net.changes { return }
      net = NetChanges(rest)
      setAside.subtract(paths)
      if cause.map(paths.contains) ?? false { cause = nil }
      isIncomplete = isIncomplete && !rest.isEmpty
    }
  }

  private var accounts: [String: Account] = [:]
  /// What the latest run of each task has received.
  private var received: [String: Account] = [:]

  /// The tasks that have ignored changes since their latest start, by their policy. These are owed no run.
  private(set) var behind: Set<String> = []

  /// What people have saved in runs of programs that compare times, which take it for up to date from then on.
  private(set) var missed: [String: Set<Path>] = [:]

  mutating func miss(_ paths: [Path], by task: String) {
    missed[task, default: []].formUnion(paths)
  }

  /// Changes that the task watches were ignored.
  mutating func ignore(by task: String) {
    behind.insert(task)
  }

  /// Adds the changes that each of these tasks watches. Those that watch the same and were owed the same before share
  /// it: a large batch is stored once.
  mutating func add(
    _ parts: [(name: String, changes: [ChangeBatch.Change])], overflow: Bool = false
  ) {
    var known: [(before: Account, changes: [ChangeBatch.Change], after: Account)] = []
    for (task, changes) in parts {
      missed[task]?.subtract(changes.flatMap { [$0.path] + ($0.from.map { [$0] } ?? []) })
      let before = accounts.removeValue(forKey: task) ?? Account()
      let same = known.first { $0.changes == changes && $0.before == before }
      var after = same?.after ?? before
      if same == nil {
        after.add(changes, overflow)
        known.append((before, changes, after))
      }
      accounts[task] = after
    }
  }

  /// The first of these paths that a task is owed becomes the reason for its next run, unless another one is.
  mutating func require(_ tasks: some Sequence<String>, for paths: [Path]) {
    for task in tasks where accounts[task]?.cause == nil {
      if let cause = paths.first(where: { accounts[task]?.net.contains($0) ?? false }) {
        accounts[task]?.setCause(cause)
      }
    }
  }

  /// Whether the task is owed a change that requests a run.
  func owes(_ task: String) -> Bool { accounts[task]?.requestsRun ?? false }

  func owes(_ task: String, _ path: Path) -> Bool { accounts[task]?.net.contains(path) ?? false }

  /// Whether the task is owed the change of any of the paths.
  func owes(_ task: String, anyOf paths: [Path]) -> Bool {
    accounts[task].map { paths.contains(where: $0.net.contains) } ?? false
  }

  /// The changes that the task is owed, as a trigger with this reason.
  func trigger(of task: String, _ reason: RunTrigger.Reason = .change) -> RunTrigger {
    accounts[task].map { RunTrigger(reason, $0.batch) } ?? RunTrigger(reason)
  }

  /// A run of the task starts: it receives all that the task is owed, but nothing if it only continues one that ended.
  mutating func start(_ task: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    behind.remove(task)
    if reason == .restart && accounts[task]?.isForNextStart != true {
      settle(waitingOutputs(of: task).map(\.path), to: [task])
      return RunTrigger(.restart)
    }
    let account = accounts.removeValue(forKey: task) ?? Account()
    received[task] = account.received
    return RunTrigger(reason, account.batch)
  }

  /// The run that would have received what the task is owed could not be started. The next one does.
  mutating func startFailed(_ task: String) {
    accounts[task]?.isForNextStart = true
  }

  /// The run of the task is sent a signal, with which it receives all that the task is owed.
  mutating func signal(_ task: String, _ reason: RunTrigger.Reason) -> RunTrigger {
    let account = accounts.removeValue(forKey: task) ?? Account()
    received[task, default: Account()].add(account)
    return RunTrigger(reason, account.batch)
  }

  /// The run of the task was stopped before its end: the task is owed again what that received.
  mutating func interrupt(_ task: String) {
    guard var account = received.removeValue(forKey: task), !account.net.changes.isEmpty else {
      return
    }
    if let later = accounts.removeValue(forKey: task) {
      account.add(later)
      // What has stopped the run is named as the reason for the next one.
      if let cause = later.cause { account.setCause(cause) }
    }
    accounts[task] = account
  }

  /// The run of the task has ended by itself.
  mutating func ended(_ task: String) {
    received[task] = nil
  }

  /// These outputs request no run of the tasks. They stay owed.
  mutating func setAside(_ paths: [Path], for tasks: some Sequence<String>) {
    for task in tasks {
      guard let account = accounts[task] else { continue }
      accounts[task]?.setAside.formUnion(paths.filter(account.net.contains))
    }
  }

  /// The outputs that wait for the next run of the task.
  func waitingOutputs(of task: String) -> [ChangeBatch.Change] {
    accounts[task]?.waitingOutputs ?? []
  }

  /// Nothing is owed for these paths.
  mutating func settle(_ paths: [Path], to tasks: some Sequence<String>) {
    let paths = Set(paths)
    for task in tasks {
      accounts[task]?.remove(paths)
      if accounts[task]?.net.changes.isEmpty ?? false { accounts[task] = nil }
    }
  }

  /// Removes the accounts of all tasks but those that are kept, and returns what they were owed, for others.
  mutating func close(keeping kept: Set<String>) -> ChangeBatch? {
    var all = Account()
    for task in accounts.keys.sorted() where !kept.contains(task) {
      if let account = accounts.removeValue(forKey: task) { all.add(account) }
    }
    received = received.filter { kept.contains($0.key) }
    behind.formIntersection(kept)
    return all.net.changes.isEmpty ? nil : all.batch
  }
}

extension ChangeBatch.Change {
  /// The change of what had this path before.
  fileprivate func renamed(from origin: Path) -> Self {
    var change = self
    (change.kind, change.from) = origin == path ? (.modified, nil) : (.renamed, origin)
    return change
  }

  /// The net change of this change and a later one of the path: what was created and then removed may have been seen.
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
