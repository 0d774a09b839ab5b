import FileObservation
import SystemCalls

/// Finds out which watched files the command itself writes, so that it does not start itself for ever.
///
/// A run started only by changes made during the run before it is a follow-up. Where follow-ups in a
/// row are started by the same paths, these may be the command's own outputs. But somebody else may
/// write them as well: a stream of changes, a person who saves during each of some long runs, a script
/// that answers each run with a change. So from the second on it is listened for a while before a
/// follow-up begins: a stream would go on. Three in a row, or five where runs are long, are taken for
/// proof; from then on a change to these paths during a run starts nothing. A change to them while
/// nothing runs counts, and puts an end to the suspicion.
///
/// A command that writes the same each time, as one that formats its sources, may write what a person
/// writes as well. So what was in an output is remembered: if something else is in it after a change
/// during a run, that counts. Only if it is something else time after time, as in a log, the command
/// is taken to have written that, too.
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
  private static let surprisesThatCount = 2
  /// How many outputs are read. So many at once are no person's work.
  private static let mostContents = 64
  private static let largestContent = 1 << 20

  /// What was in a file that changed during runs.
  private struct Content {
    var digest: ContentDigest?
    /// How often in a row it was something else.
    var surprises = 0

    mutating func note(_ now: ContentDigest?) {
      surprises = now == digest ? 0 : surprises + 1
      digest = now
    }
  }

  private var contents: [Path: Content] = [:]
  private(set) var paths: Set<Path> = []
  private var toldOf: Set<Path> = []
  /// What started the latest runs, if they were follow-ups, and how many there were in a row.
  private var followUps: (paths: Set<Path>, count: Int) = ([], 0)
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

  /// What is left of a trigger without the command's own doings; nil if nothing is.
  mutating func sift(_ trigger: Trigger) -> Trigger? {
    if trigger.changes.isEmpty || paths.isEmpty { return trigger }
    if !trigger.cameDuringRun {
      for change in trigger.changes where paths.remove(change.path) != nil {
        contents[change.path] = nil
      }
      return trigger
    }
    let own = paths.intersection(trigger.changes.map(\.path))
    noteContents(of: own)
    var rest = trigger
    rest.changes.removeAll { own.contains($0.path) && !isSurprise($0.path) }
    return rest.changes.isEmpty ? nil : rest
  }

  /// A run by just these paths, changed during the run before, would be one more follow-up.
  var suspects: Set<Path> { followUps.paths }

  /// A run begins, after one that took that long. The paths that turn out to be outputs by it, each
  /// once.
  mutating func runBegins(_ trigger: Trigger, after duration: Duration) -> [Path] {
    let started = trigger.causes
    guard trigger.cameDuringRun, !started.isEmpty else {
      followUps = ([], 0)
      return []
    }
    followUps = (started, started == followUps.paths ? followUps.count + 1 : 1)
    // Those that are outputs already were looked at when the trigger was sifted.
    if !started.isSubset(of: paths) { noteContents(of: started) }
    let needed = duration < Self.longRun ? Self.followUpsOfShortRuns : Self.followUpsOfLongRuns
    guard followUps.count >= needed, !started.isSubset(of: paths) else { return [] }
    paths.formUnion(started)
    defer { toldOf.formUnion(started) }
    return trigger.changes.map(\.path).filter { started.contains($0) && !toldOf.contains($0) }
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
  private mutating func noteContents(of written: Set<Path>) {
    contents = contents.filter { paths.contains($0.key) || followUps.paths.contains($0.key) }
    if written.count > Self.mostContents { return }
    for path in written { contents[path, default: Content()].note(digest(path)) }
  }

  /// True if something else was written to an output than the command has written before.
  private func isSurprise(_ path: Path) -> Bool {
    guard let content = contents[path] else { return false }
    return (1...Self.surprisesThatCount).contains(content.surprises)
  }
}
