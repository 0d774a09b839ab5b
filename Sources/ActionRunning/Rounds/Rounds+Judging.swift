import FileObservation
import Support
import SystemCalls

// Decides which changes are owed a run, and when.

extension Rounds {
  /// Judges what changed soon after the start of a live run. A path that the run before changed as well,
  /// and that never changed while nothing ran, is probably still being written: it is judged when the
  /// run has settled.
  mutating func judgeLive(since start: Instant, at now: Instant, _ read: Reader) -> [Action] {
    let isLate = { [known, edited] (touch: Touch) in
      known[touch.path] != nil && !edited.contains(touch.path)
    }
    let all = touched
    let late = all.entries.filter(isLate)
    touched = Touches(all.entries.filter { !isLate($0) }, sawOverflow: all.sawOverflow)
    let actions = judge(from: start, isLive: true, depth: depth + 1, at: now, read)
    touched = Touches(late, sawOverflow: all.sawOverflow && !late.isEmpty)
    let isPaid = actions.contains { if case .run = $0 { true } else { false } }
    if late.isEmpty || isPaid { return actions }
    let settled = start.advanced(by: Self.settlingTime)
    let time = debt.map { min($0.due, settled) } ?? settled
    // Instead of an earlier wait.
    return actions + [.wait(until: time, generation: makeGeneration())]
  }

  private static let immediateFollowUps = 3
  /// How many follow-ups in a row, for whatever paths, do not count where each of them is a restart: a
  /// person who saves one file after the other causes them, too.
  private static let immediateRestarts = 5
  private static let firstDelay = Duration.seconds(1)
  /// The first delay after a run for paths that have only ever changed during runs, and so are probably
  /// outputs.
  private static let firstDelayOfOutputs = Duration.seconds(4)
  private static let longestDelay = Duration.seconds(600)

  /// Compares changed paths with their known contents. Those that differ are owed a run.
  ///
  /// - Parameters:
  ///   - start: The time from which a delay counts.
  ///   - isLive: Whether that is the start of a run, and not its end.
  ///   - depth: The number of consecutive follow-ups that lead to the next round.
  mutating func judge(
    from start: Instant, isLive: Bool, depth: Int, at now: Instant, _ read: Reader
  ) -> [Action] {
    var differing: [Touch] = []
    let touches = touched.take()
    for (touch, content) in zip(touches.entries, touches.contents(read)) {
      judged[touch.path] = content
      if !isKnown(content, of: touch) { differing.append(touch) }
    }
    // A rename reports the former path as well.
    let renamed = Set(differing.compactMap(\.change?.from))
    let changes = differing.compactMap { touch in
      touch.change
        ?? (renamed.contains(touch.path)
          ? nil : ChangeBatch.Change(path: touch.path, kind: .removed, type: .unknown))
    }
    if changes.isEmpty { return resumeDelay(at: now) }
    let delay = differing.map { self.delay(of: $0, isLive: isLive, depth: depth) }.min() ?? .zero
    let trigger = RunTrigger(touches.reason, changes: changes)
    var debt =
      self.debt ?? Debt(trigger: RunTrigger(touches.reason), due: start.advanced(by: delay))
    debt.trigger = debt.trigger.changes.isEmpty ? trigger : debt.trigger.merged(with: trigger)
    debt.due = min(debt.due, start.advanced(by: delay))
    for touch in differing { debt.paths[touch.path] = touch.isEntryChanged }
    nextDepth = max(nextDepth, depth)
    if debt.due <= now { return pay(debt) }
    self.debt = debt
    return announcement(of: differing, delay: now.duration(to: debt.due))
      + [.wait(until: debt.due, generation: makeGeneration())]
  }

  /// Resumes a delay after changes were read. A run that is owed stays due at the same time.
  private mutating func resumeDelay(at now: Instant) -> [Action] {
    guard let debt else { return [] }
    if debt.due <= now { return pay(debt) }
    return [.wait(until: debt.due, generation: makeGeneration())]
  }

  private func isKnown(_ content: PathContent, of touch: Touch) -> Bool {
    if let known = known[touch.path] { return known == content }
    // A path that appears and disappears within each round, under a different name each time.
    return content == .absent && touch.wasAbsent && knownDirectories.contains(touch.path.directory)
  }

  /// A path may have changed since it was judged without a report: the next round begins with its
  /// present content. If there are too many paths to read, they are skipped.
  mutating func rereadJudged(_ read: Reader) {
    let paths = judged.filter { $0.value.isRead }.map { (path: $0.key, isMovedAsWhole: false) }
    guard paths.count <= ContentReader.mostFiles else { return }
    for (entry, content) in zip(paths, read(paths)) { judged[entry.path] = content }
  }

  private func count(of path: Path, isEntryChanged: Bool) -> Int {
    max(tries[path] ?? 0, isEntryChanged ? tries[path.directory] ?? 0 : 0)
  }

  func delay(of touch: Touch, isLive: Bool, depth: Int) -> Duration {
    let freeDepth = isLive ? Self.immediateRestarts : Self.immediateFollowUps
    let count = max(
      count(of: touch.path, isEntryChanged: touch.isEntryChanged), depth - 1 - freeDepth)
    if count < Self.immediateFollowUps { return .zero }
    let isEdited =
      edited.contains(touch.path)
      || touch.isEntryChanged && edited.contains(touch.path.directory)
    let first = isLive || isEdited ? Self.firstDelay : Self.firstDelayOfOutputs
    // Far below an overflow, and beyond the longest delay.
    return min(first * (1 << min(count - Self.immediateFollowUps, 20)), Self.longestDelay)
  }

  /// Begins the run that is owed, as one more follow-up for each of its paths.
  mutating func pay(_ debt: Debt) -> [Action] {
    let directories = debt.paths.compactMap { $0.value ? $0.key.directory : nil }
    for key in Set(debt.paths.keys).union(directories) { tries[key, default: 0] += 1 }
    // The run begins with this content, also where it does not open a round.
    for path in debt.paths.keys { known[path] = judged[path] }
    self.debt = nil
    _ = makeGeneration()
    return [.run(debt.trigger)]
  }

  /// Announces the first delay for a path.
  private mutating func announcement(of differing: [Touch], delay: Duration) -> [Action] {
    let most = differing.max { left, right in
      count(of: left.path, isEntryChanged: left.isEntryChanged)
        < count(of: right.path, isEntryChanged: right.isEntryChanged)
    }
    guard let most else { return [] }
    let isDirectory = most.isEntryChanged && tries[most.path] == nil
    let path = isDirectory ? most.path.directory : most.path
    if announced.count > 256 { announced = [] }
    guard announced.insert(path).inserted else { return [] }
    var entries: [Path] = []
    if isDirectory {
      let siblings = (differing.map(\.path) + known.keys.sorted()).filter { $0.directory == path }
      entries = Array(siblings.prefix(2))
    }
    return [.announce(FeedbackLoop(path: path, entries: entries, delay: delay))]
  }
}

extension Path {
  /// The parent directory.
  var directory: Path { parent ?? self }
}

extension PathContent {
  /// Whether reading the path again compares more than inodes and times.
  fileprivate var isRead: Bool {
    switch self {
    case .absent, .file, .link: true
    case .directory, .special, .stamp: false
    }
  }
}
