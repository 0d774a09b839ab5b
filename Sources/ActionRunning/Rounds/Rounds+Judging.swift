import FileObservation
import Support
import SystemCalls

// Decides which changes require a follow-up, and when it is due.

extension Rounds {
  private static let immediateFollowUps = 3
  /// The number of consecutive follow-ups, for any paths, that are not counted if each of them is a
  /// restart: saving one file after the other causes them, too.
  private static let immediateRestarts = 5
  private static let firstDelay = Duration.seconds(1)
  /// The first delay after a run for paths that have only ever changed during runs, and so are
  /// probably outputs.
  private static let firstDelayOfOutputs = Duration.seconds(4)
  private static let longestDelay = Duration.seconds(600)

  /// Judges changes that were reported soon after the start of a live run. A path that changed in
  /// the run before as well, and never while nothing ran, is probably still being written: it is
  /// judged when the settling time of the run has passed.
  mutating func judgeLive(
    since start: Instant, at now: Instant, _ isOwed: (Path) -> Bool, _ read: Reader
  ) -> [Action] {
    let settling = unjudged.filter { isProbablyOutput($0) }
    unjudged = unjudged.filter { !isProbablyOutput($0) }
    let actions = judge(from: start, isLive: true, depth: depth + 1, at: now, isOwed, read)
    unjudged = settling
    let isRun = actions.contains { if case .run = $0 { true } else { false } }
    if settling.isEmpty || isRun { return actions }
    let settled = start.advanced(by: Self.settlingTime)
    let time = followUp.map { min($0.due, settled) } ?? settled
    // Replaces an earlier wait.
    return actions + [.wait(until: time, generation: makeGeneration())]
  }

  private func isProbablyOutput(_ path: Path) -> Bool {
    records[path].map { $0.knownContent != nil && !$0.isEdited } ?? false
  }

  /// Compares the contents of changed paths with the known ones. Those that differ require a
  /// follow-up.
  ///
  /// - Parameters:
  ///   - start: The time from which a delay counts.
  ///   - isLive: Whether that is the start of a run, and not its end.
  ///   - depth: The number of consecutive follow-ups that lead to the next round.
  mutating func judge(
    from start: Instant, isLive: Bool, depth: Int, at now: Instant,
    _ isOwed: (Path) -> Bool, _ read: Reader
  ) -> [Action] {
    let (differing, unchanged) = compare(isOwed, read)
    let forgiven: [Action] = unchanged.isEmpty ? [] : [.forgive(unchanged)]
    if differing.isEmpty { return forgiven + resumeFollowUp(at: now) }
    let delay = differing.map { self.delay(of: $0, isLive: isLive, depth: depth) }.min() ?? .zero
    let followUp = add(differing, due: start.advanced(by: delay))
    nextDepth = max(nextDepth, depth)
    if followUp.due <= now { return forgiven + run(followUp) }
    return forgiven + announcement(of: differing, delay: now.duration(to: followUp.due))
      + [.wait(until: followUp.due, generation: makeGeneration())]
  }

  /// Records the contents of the changed paths as judged. Returns the changes of owed paths whose
  /// contents differ from the known ones, and the owed paths with known contents.
  private mutating func compare(
    _ isOwed: (Path) -> Bool, _ read: Reader
  ) -> (differing: [PendingChange], unchanged: [Path]) {
    var (differing, unchanged): ([PendingChange], [Path]) = ([], [])
    var received: [Path] = []
    let pending = takeUnjudged()
    for (change, content) in zip(pending, contents(of: pending, read)) {
      records[change.path, default: Record()].judgedContent = content
      if !isOwed(change.path) {
        received.append(change.path)
      } else if !isKnown(content, of: change) {
        differing.append(change)
      } else if records[change.path]?.due == nil {
        // A follow-up that is due for the path remains due.
        unchanged.append(change.path)
      }
    }
    removeFromFollowUp(received)
    return (differing, unchanged)
  }

  /// The present contents of the changed paths.
  func contents(of changes: [PendingChange], _ read: Reader) -> [PathContent] {
    read(changes.map { ($0.path, $0.isMovedAsWhole) })
  }

  private func isKnown(_ content: PathContent, of change: PendingChange) -> Bool {
    if let known = records[change.path]?.knownContent { return known == content }
    // A path that appears and disappears within each round, under a different name each time.
    return content == .absent && change.wasAbsent
      && records[change.path.directory]?.entriesChangedBefore == true
  }

  // MARK: Follow-ups

  /// Adds changes to the follow-up, which is due at this time at the latest.
  private mutating func add(_ changes: [PendingChange], due: Instant) -> FollowUp {
    var followUp = self.followUp ?? FollowUp(due: due)
    // Not held twice, or its paths would be copied.
    self.followUp = nil
    followUp.due = min(followUp.due, due)
    for change in changes {
      if records[change.path]?.due == nil { followUp.paths.append(change.path) }
      records[change.path, default: Record()].due = change
    }
    self.followUp = followUp
    return followUp
  }

  /// Removes paths whose changes a run has received, and the follow-up if no path requires it then.
  private mutating func removeFromFollowUp(_ received: [Path]) {
    guard received.contains(where: { records[$0]?.due != nil }) else { return }
    for path in received { update(path) { $0.due = nil } }
    let rest = followUp?.paths.filter { records[$0]?.due != nil } ?? []
    if rest.isEmpty { followUp = nil } else { followUp?.paths = rest }
  }

  /// Waits for the follow-up again after changes were read. It stays due at the same time.
  private mutating func resumeFollowUp(at now: Instant) -> [Action] {
    guard let followUp else { return [] }
    if followUp.due <= now { return run(followUp) }
    return [.wait(until: followUp.due, generation: makeGeneration())]
  }

  /// Requests the run that is due, which counts for each of its paths.
  private mutating func run(_ followUp: FollowUp) -> [Action] {
    let directories = followUp.paths.compactMap { path in
      records[path]?.due?.isOfEntry == true ? path.directory : nil
    }
    for path in Set(followUp.paths).union(directories) {
      records[path, default: Record()].followUps = (records[path]?.followUps ?? 0) + 1
    }
    // The run begins with this content, also if it does not begin a round.
    for path in followUp.paths { update(path) { $0.knownContent = $0.judgedContent } }
    cancelFollowUp()
    _ = makeGeneration()
    return [.run(followUp.paths)]
  }

  // MARK: Delays

  /// The number of consecutive follow-ups for the path or the entries of its directory.
  private func followUps(of change: PendingChange) -> Int {
    let ofEntries = change.isOfEntry ? records[change.path.directory]?.followUps ?? 0 : 0
    return max(records[change.path]?.followUps ?? 0, ofEntries)
  }

  func delay(of change: PendingChange, isLive: Bool, depth: Int) -> Duration {
    let uncounted = isLive ? Self.immediateRestarts : Self.immediateFollowUps
    let count = max(followUps(of: change), depth - 1 - uncounted)
    if count < Self.immediateFollowUps { return .zero }
    let first = isLive || isEdited(change) ? Self.firstDelay : Self.firstDelayOfOutputs
    // Far below an overflow, and beyond the longest delay.
    return min(first * (1 << min(count - Self.immediateFollowUps, 20)), Self.longestDelay)
  }

  private func isEdited(_ change: PendingChange) -> Bool {
    records[change.path]?.isEdited == true
      || change.isOfEntry && records[change.path.directory]?.isEdited == true
  }

  /// Announces the first delay for the path with the most consecutive follow-ups.
  private mutating func announcement(
    of differing: [PendingChange], delay: Duration
  ) -> [Action] {
    guard let most = differing.max(by: { followUps(of: $0) < followUps(of: $1) }) else { return [] }
    let isDirectory = most.isOfEntry && records[most.path]?.followUps == nil
    let path = isDirectory ? most.path.directory : most.path
    guard markAnnounced(path) else { return [] }
    let entries = isDirectory ? changedEntries(of: path, differing).prefix(2) : []
    return [.announce(FeedbackLoop(path: path, entries: Array(entries), delay: delay))]
  }

  /// The entries of a directory that changed in the present round, then those of the round before.
  private func changedEntries(of directory: Path, _ differing: [PendingChange]) -> [Path] {
    let before = records.filter { $0.value.knownContent != nil && $0.key.directory == directory }
    return differing.map(\.path).filter { $0.directory == directory } + before.keys.sorted()
  }
}
