import FileObservation
import Support
import SystemCalls

// Decides which changes require a follow-up, and when it is due.

extension Rounds {
  /// The number of consecutive follow-ups that start immediately, for a path that others change as
  /// well, and for one that only runs have changed.
  private static let immediateFollowUps = 3
  private static let immediateOfWritten = 1
  /// The same for any paths.
  private static let immediateDepth = 7
  private static let firstDelay = Duration.seconds(1)
  /// The first delay for paths that are not known to be edited.
  private static let firstDelayOfOutputs = Duration.seconds(4)
  static let longestDelay = Duration.seconds(600)

  /// Compares the contents of changed paths with the known ones. Those that differ require a
  /// follow-up.
  ///
  /// - Parameters:
  ///   - depth: The number of consecutive follow-ups that lead to the next round.
  ///   - areOfRuns: Whether runs of this round may have made the changes.
  mutating func judge(
    depth: Int, areOfRuns: Bool = true, at now: Instant, _ facts: Facts
  ) -> [Action] {
    let pending = takeUnjudged()
    let found = compare(pending, facts)
    if areOfRuns { for change in pending { markWritten(change.path) } }
    var differing = found.differing
    var absorbed: [Path] = []
    if areOfRuns && facts.hasOneWriter() {
      absorbed = differing.map(\.path).filter { records[$0]?.origin == .output }
      differing.removeAll { records[$0.path]?.origin == .output }
    }
    let settled =
      found.settled(absorbing: absorbed)
      + Self.explain(
        found.unchanged.map { ChangeJudgment($0, .unchanged) }
          + absorbed.map { ChangeJudgment($0, .output) }
          + differing.map { ChangeJudgment($0.path, followUps(of: $0) > 0 ? .repeated : .unknown) })
    if differing.isEmpty { return settled + resumeFollowUp(at: now) }
    nextDepth = max(nextDepth, depth)
    let delay =
      differing.map { self.delay(of: $0, areOfRuns: areOfRuns, depth: depth) }.min() ?? .zero
    return settled + follow(differing, after: delay, isAnnounced: true, at: now)
  }

  /// The result of a comparison.
  struct Comparison {
    /// The changes of owed paths whose contents differ from the known ones.
    var differing: [PendingChange] = []
    /// The owed paths with known contents.
    var unchanged: [Path] = []

    /// The actions for the paths that require no run.
    func settled(absorbing outputs: [Path]) -> [Action] {
      (unchanged.isEmpty ? [] : [.forgive(unchanged)]) + (outputs.isEmpty ? [] : [.absorb(outputs)])
    }
  }

  /// Records the contents of the changed paths as judged, and compares them with the known ones.
  mutating func compare(_ pending: [PendingChange], _ facts: Facts) -> Comparison {
    var comparison = Comparison()
    var received: [Path] = []
    for (change, content) in zip(pending, contents(of: pending, facts)) {
      records[change.path, default: Record()].judgedContent = content
      if !facts.isOwed(change.path) {
        received.append(change.path)
      } else if !isKnown(content, of: change) {
        comparison.differing.append(change)
      } else if records[change.path]?.due == nil {
        // A follow-up that is due for the path remains due.
        comparison.unchanged.append(change.path)
      }
    }
    removeFromFollowUp(received)
    return comparison
  }

  /// The present contents of the changed paths.
  func contents(of changes: [PendingChange], _ facts: Facts) -> [PathContent] {
    facts.contents(changes.map { ($0.path, $0.isMovedAsWhole) })
  }

  private func isKnown(_ content: PathContent, of change: PendingChange) -> Bool {
    if let known = records[change.path]?.knownContent { return known == content }
    // A path that appears and disappears within each round, under a different name each time.
    return content == .absent && change.wasAbsent
      && records[change.path.directory]?.entriesChangedBefore == true
  }

  // MARK: Follow-ups

  /// Requires a follow-up for these changes, after a delay.
  mutating func follow(
    _ changes: [PendingChange], after delay: Duration, isAnnounced: Bool, at now: Instant
  ) -> [Action] {
    failTrial()
    let followUp = add(changes, due: now.advanced(by: delay))
    if followUp.due <= now { return run(followUp) }
    lastReport = now
    let announced =
      isAnnounced ? announcement(of: changes, delay: now.duration(to: followUp.due)) : []
    return announced + [.wait(until: followUp.due, generation: makeGeneration())]
  }

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
  mutating func resumeFollowUp(at now: Instant) -> [Action] {
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
    beginTrial(of: followUp.paths)
    cancelFollowUp()
    _ = makeGeneration()
    return [.run(followUp.paths)]
  }

  // MARK: Delays

  /// The number of consecutive follow-ups for the path or the entries of its directory.
  func followUps(of change: PendingChange) -> Int {
    let ofEntries = change.isOfEntry ? records[change.path.directory]?.followUps ?? 0 : 0
    return max(records[change.path]?.followUps ?? 0, ofEntries)
  }

  /// The delay after a round of the follow-up that a change requires.
  private func delay(of change: PendingChange, areOfRuns: Bool, depth: Int) -> Duration {
    let isWritten =
      areOfRuns && records[change.path]?.origin.isWritten == true && !isEdited(change)
    let ofPath = isWritten ? (records[change.path]?.followUps ?? 0) - Self.immediateOfWritten : -1
    let excess = max(
      ofPath, followUps(of: change) - Self.immediateFollowUps, depth - Self.immediateDepth - 1)
    let first = isEdited(change) ? Self.firstDelay : Self.firstDelayOfOutputs
    return Self.delay(first, excess)
  }

  /// A delay that doubles, from a first one.
  static func delay(_ first: Duration, _ doublings: Int) -> Duration {
    if doublings < 0 { return .zero }
    // Far below an overflow, and beyond the longest delay.
    return min(first * (1 << min(doublings, 20)), longestDelay)
  }

  func isEdited(_ change: PendingChange) -> Bool {
    records[change.path]?.origin.isEdited == true
      || change.isOfEntry && records[change.path.directory]?.origin.isEdited == true
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
    return [
      .announce(
        FeedbackLoop(
          path: path, entries: Array(entries), delay: delay, isEdited: isEdited(most)))
    ]
  }

  /// The entries of a directory that changed in the present round, then those of the round before.
  private func changedEntries(of directory: Path, _ differing: [PendingChange]) -> [Path] {
    let before = records.filter { $0.value.knownContent != nil && $0.key.directory == directory }
    return differing.map(\.path).filter { $0.directory == directory } + before.keys.sorted()
  }
}
