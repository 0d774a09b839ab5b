import FileObservation
import SystemCalls

/// Finds out which watched files the command itself writes, so that it does not start itself for ever.
///
/// A run started only by changes made during the run before it is a follow-up. Where the same paths start
/// follow-ups in a row, these may be the command's own outputs. But somebody else may write them as
/// well: a stream of changes, a person who saves during each of some long runs, a script
/// that answers each run with a change. So from the second on it is listened for a while before a
/// follow-up begins: a stream would go on. Three in a row, or five where runs are long, are taken for
/// proof; from then on a change to these paths during a run starts nothing. A change to them while
/// nothing runs counts.
///
/// A command that formats its sources writes what a person writes as well. So what was in an output that
/// somebody has changed while nothing ran is remembered: if something else is in it after a change during
/// a run, that counts, too. But not for ever: a log that others write as well holds something else each
/// time.
///
/// Where each change restarts the command, it always runs, and none of this can be told. Five restarts
/// within ten seconds by the same paths are reported, and that is all.
struct OwnOutputs: Sendable {
  /// How long it is listened.
  static let listeningTime = Duration.milliseconds(600)
  private static let longRun = Duration.seconds(2)
  private static let followUpsOfShortRuns = 3
  private static let followUpsOfLongRuns = 5
  private static let restartLimit = 5
  private static let restartSpan = Duration.seconds(10)
  /// How often in a row an output that holds something else counts.
  private static let mostSurprises = 2
  /// How many outputs are read. So many at once are no person's work.
  private static let mostContents = 64
  private static let largestContent = 1 << 20

  private struct Output {
    /// Of what was in it; nil if that cannot be said.
    var digest: ContentDigest?
    /// Somebody has changed it while nothing ran.
    var isShared: Bool
    /// In how many runs in a row it became something else, and in which it did last.
    var surprises = 0
    var lastSurprise = 0
  }

  private var outputs: [Path: Output] = [:]
  private var toldOf: Set<Path> = []
  private var runCount = 0
  /// What started the latest run, if it was a follow-up: how many in a row each path has started.
  private var followUps: [Path: Int] = [:]
  /// What started the run before them.
  private var beginning: Set<Path> = []
  private var restarts: [(time: Instant, paths: Set<Path>)] = []
  private var hasToldOfRestarts = false
  private let digest: @Sendable (Path) -> ContentDigest?

  /// - Parameter digest: Of what is in a file now; nil if that cannot be said.
  init(
    digest: @escaping @Sendable (Path) -> ContentDigest? = {
      DiskContents(largestFile: Self.largestContent).sample(of: $0)?.digest
    }
  ) {
    self.digest = digest
  }

  /// The files that are taken for the command's own.
  var paths: Set<Path> { Set(outputs.keys) }

  /// What is left of a trigger without the command's own doings; nil if nothing is.
  mutating func sift(_ trigger: Trigger) -> Trigger? {
    if trigger.changes.isEmpty || outputs.isEmpty { return trigger }
    let own = trigger.changes.map(\.path).filter { outputs[$0] != nil }
    if !trigger.cameDuringRun {
      for path in own { outputs[path] = changedByOthers(path) }
      return trigger
    }
    let counting = own.count <= Self.mostContents ? Set(own.filter { isSurprise($0) }) : []
    var rest = trigger
    rest.changes.removeAll { outputs[$0.path] != nil && !counting.contains($0.path) }
    return rest.changes.isEmpty ? nil : rest
  }

  /// A run by none but these paths, changed during the run before, would be one more follow-up.
  var suspects: Set<Path> { Set(followUps.keys) }

  /// A run begins, after one that took that long. The paths that turn out to be outputs by it, each
  /// once.
  mutating func runBegins(_ trigger: Trigger, after duration: Duration) -> [Path] {
    let started = trigger.causes
    runCount += 1
    guard trigger.cameDuringRun, !started.isEmpty else {
      followUps = [:]
      beginning = started
      return []
    }
    // Not always the same are noticed before a run ends.
    followUps = Dictionary(
      uniqueKeysWithValues: started.map { ($0, (followUps[$0] ?? 0) + 1) })
    let needed = duration < Self.longRun ? Self.followUpsOfShortRuns : Self.followUpsOfLongRuns
    let found = started.filter { outputs[$0] == nil && followUps[$0] ?? 0 >= needed }
    if found.isEmpty { return [] }
    let isRead = started.count <= Self.mostContents
    for path in found {
      outputs[path] = Output(
        digest: isRead ? digest(path) : nil, isShared: beginning.contains(path))
    }
    defer { toldOf.formUnion(found) }
    return trigger.changes.map(\.path).filter { found.contains($0) && !toldOf.contains($0) }
  }

  /// A change restarts the command. The paths, if they do so over and over, and this was not told of.
  mutating func restarted(by trigger: Trigger, at now: Instant) -> [Path] {
    let paths = Set(trigger.changes.map(\.path))
    if restarts.last.map({ $0.paths != paths }) ?? false { restarts = [] }
    restarts.append((now, paths))
    restarts.removeAll { $0.time.duration(to: now) > Self.restartSpan }
    guard restarts.count >= Self.restartLimit, !hasToldOfRestarts, !paths.isEmpty else { return [] }
    hasToldOfRestarts = true
    return trigger.changes.map(\.path)
  }
}

// MARK: - Contents

extension OwnOutputs {
  /// An output that others have changed while nothing ran. If what is in it cannot be said, it is none
  /// any more.
  private func changedByOthers(_ path: Path) -> Output? {
    digest(path).map { Output(digest: $0, isShared: true) }
  }

  /// True if an output that others change as well holds something else than before.
  private mutating func isSurprise(_ path: Path) -> Bool {
    guard var output = outputs[path] else { return false }
    let now = digest(path)
    if now == output.digest { return false }
    output.digest = now
    if output.lastSurprise != runCount {
      output.surprises = output.lastSurprise == runCount - 1 ? output.surprises + 1 : 1
      output.lastSurprise = runCount
    }
    outputs[path] = output
    return output.isShared && output.surprises <= Self.mostSurprises
  }
}
