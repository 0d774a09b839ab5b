import Support
import SystemCalls

// Finds the outputs: paths that runs write, and whose changes need no follow-up.
//
// `make` builds a program, and the follow-up for the program finds it up to date. So follow-ups are
// observed: whether they change anything, and end as the run before. That they change nothing proves nothing
// alone: a test that a person saves during each run changes nothing either.

extension ChangeJudge {
  /// What proves that runs write a path.
  struct OutputProof: Equatable, Sendable {
    /// A process of a run had it open for writing. It need not have written.
    var wasOpen = false
    /// Whether a run has made it, and it is a file that people do not type.
    var wasMade = false
    /// For each follow-up for the path that has written it again, with the same content, how often it was
    /// reported meanwhile: of the latest ones.
    var rewritings: [Int] = []
    /// The number of follow-ups for the path in a row that have changed nothing.
    var timesUnchanging = 0

    /// So many cases are no coincidence.
    private static let cases = 2

    /// - Parameter mayBeSource: Whether people edit files of this kind. A run may rewrite what they save, as
    ///   formatters do.
    func isComplete(mayBeSource: Bool) -> Bool {
      timesUnchanging >= Self.cases
        && (wasMade || !mayBeSource && rewritings.count >= Self.cases)
    }

    mutating func rewritten(reportCount: Int) {
      rewritings = rewritings.suffix(Self.cases - 1) + [reportCount]
    }
  }

  /// A follow-up that is observed.
  struct Observation: Equatable, Sendable {
    /// The paths for which it runs.
    let paths: Set<Path>
    /// How the runs before it ended; `nil` until the judgment is complete.
    var results: [String: ExitStatus]?
    /// Whether it has begun.
    var hasLaunched = false
  }

  /// Whether the change is one of an output, and no others have proved to make it.
  ///
  /// A person may save what runs only rewrite, as formatters do. It is reported once more then.
  func isOutput(_ change: PendingChange) -> Bool {
    guard let record = records[change.path], !record.isEdited else { return false }
    let proof = record.proof
    return isKeptOpen(change)
      || isProved(change.path)
        && (proof.wasMade || record.reportCount <= proof.rewritings.max() ?? 0)
  }

  /// Whether it is a log or a database that a server keeps open, which is written at any time. What it has closed,
  /// anyone may write.
  func isKeptOpen(_ change: PendingChange) -> Bool {
    hasInterruptibleService && change.verdict == .run
  }

  /// Whether it is proved that only runs write the path.
  func isProved(_ path: Path) -> Bool {
    guard let record = records[path], !record.isEdited, record.proof.timesUnchanging > 0 else {
      return false
    }
    return record.proof.isComplete(
      mayBeSource: editedKinds.contains(FileKind(path)) || editedKinds.count >= Self.mostKinds)
  }

  /// The paths of which it is proved that only runs write them.
  var provedOutputs: Set<Path> { Set(records.keys.filter(isProved)) }

  /// Collects what proves that runs write the paths of these changes.
  mutating func collectProofs(
    _ changes: [PendingChange], unchanged: [PendingChange], _ knowledge: Knowledge
  ) {
    for change in changes where change.verdict == .run {
      records[change.path]?.proof.wasOpen = true
    }
    for change in changes where change.verdict != .others {
      guard let file = knowledge.files[change.path], file.isBuilt, let born = file.born,
        let lastLaunch, born >= lastLaunch.files
      else { continue }
      records[change.path]?.proof.wasMade = true
    }
    guard let observation, observation.hasLaunched else { return }
    // One that is only opened and closed is reported as well.
    for change in unchanged
    where observation.paths.contains(change.path) && isWritten(change, knowledge) {
      // One that was reported more often before was saved by a person as well.
      update(change.path) { record in
        if record.reportCount >= record.formerReportCount {
          record.proof.rewritten(reportCount: record.reportCount)
        }
      }
    }
  }

  /// Whether the path was written after the latest run began. What a person has just saved may be reported later.
  func isWritten(_ change: PendingChange, _ knowledge: Knowledge) -> Bool {
    guard let lastLaunch, let written = knowledge.files[change.path]?.modified else { return false }
    return written >= lastLaunch.files
  }

  mutating func beginObservation(of paths: [Path]) {
    observation = Observation(paths: Set(paths))
  }

  /// The follow-up has changed something.
  mutating func failObservation() {
    guard let observation, observation.hasLaunched else { return }
    self.observation = nil
    for path in observation.paths { update(path) { $0.proof.timesUnchanging = 0 } }
  }

  /// All runs of the follow-up have ended, and it has changed nothing.
  mutating func concludeObservation(_ knowledge: Knowledge) -> [Action] {
    if observation?.hasLaunched == false { observation?.results = knowledge.results }
    guard let observation, observation.hasLaunched else { return [] }
    self.observation = nil
    guard observation.results == knowledge.results, knowledge.hasOneWriter else { return [] }
    return countUnchanging(observation.paths)
  }

  /// The follow-up is an active run, which ends without a result. It has changed nothing if it lasted
  /// clearly longer than the runs before took to change the path. It may rewrite the paths of the observation,
  /// unchanged.
  mutating func endObservation(for changes: [PendingChange], at now: Instant) -> [Action] {
    guard hasInterruptibleService, let observation, observation.hasLaunched,
      !changes.allSatisfy({ observation.paths.contains($0.path) })
    else { return [] }
    self.observation = nil
    let time = offset(at: now)
    return countUnchanging(
      observation.paths.filter { path in
        let offset = records[path]?.suspicion.offset
        return offset.map { time > $0 * Suspicion.Rules.endOfRow + .milliseconds(500) }
          ?? false
      })
  }

  private mutating func countUnchanging(_ paths: Set<Path>) -> [Action] {
    var outputs: [Path] = []
    for path in paths.sorted() where records[path]?.isEdited == false {
      let wasProved = isProved(path)
      records[path]?.proof.timesUnchanging += 1
      if !wasProved && isProved(path) { outputs.append(path) }
    }
    return outputs.isEmpty ? [] : [.announceOutputs(outputs)]
  }
}
