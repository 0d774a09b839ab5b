import Support
import SystemCalls

// Finds the outputs: paths that runs write, and whose changes need no follow-up.
//
// `make` builds a program, and the follow-up for the program finds it up to date. A trial observes a
// follow-up: if it changes nothing and ends as the run before, it was in vain. That alone proves nothing: a
// test that a person saves during each run changes nothing either.

extension Rounds {
  /// What proves that runs write a path.
  struct OutputProof: Hashable, Sendable {
    /// A process of a run had it open for writing.
    var wasOpen = false
    /// The number of runs in which a program or object file was made: people do not type these.
    var timesMade = 0
    /// The number of follow-ups for the path that have written it again, with the same content.
    var timesRewritten = 0
    /// The number of follow-ups for the path in a row that have changed nothing.
    var timesInVain = 0

    /// So many cases are no coincidence.
    private static let cases = 2

    /// - Parameter mayBeSource: Whether people edit files of this kind. A run may open and rewrite what
    ///   they save, as formatters do.
    func isComplete(mayBeSource: Bool) -> Bool {
      timesInVain >= Self.cases
        && (timesMade >= Self.cases || !mayBeSource && (wasOpen || timesRewritten >= Self.cases))
    }
  }

  /// A follow-up that is observed.
  struct Trial: Hashable, Sendable {
    /// The paths for which it runs.
    let paths: [Path]
    /// How the runs before it ended; `nil` until the judgment is complete.
    var results: [String: ExitStatus]?
    /// Whether it has begun.
    var hasLaunched = false
  }

  /// Whether the change is one of an output, and no others have proved to make it.
  func isOutput(_ change: PendingChange) -> Bool {
    guard let record = records[change.path], !record.isEdited else { return false }
    // A log or a database that a server keeps open is written at any time.
    return isProved(change.path) || restartsOnChange && record.proof.wasOpen
  }

  /// Whether it is proved that only runs write the path.
  func isProved(_ path: Path) -> Bool {
    guard let record = records[path], !record.isEdited, record.proof.timesInVain > 0 else {
      return false
    }
    return record.proof.isComplete(
      mayBeSource: editedEndings.contains(path.ending) || editedEndings.count >= Self.mostEndings)
  }

  /// Collects what proves that runs write the paths of these changes.
  mutating func collectProofs(
    _ changes: [PendingChange], unchanged: [PendingChange], _ knowledge: Knowledge
  ) {
    for change in changes where change.evidence.verdict == .run {
      records[change.path]?.proof.wasOpen = true
    }
    for change in changes where change.evidence.verdict != .others {
      guard let file = knowledge.files[change.path], records[change.path]?.wasMade == false,
        file.isProgram, let born = file.born, let lastLaunch, born >= lastLaunch.files
      else { continue }
      records[change.path]?.wasMade = true
      records[change.path]?.proof.timesMade += 1
    }
    guard let trial, trial.hasLaunched else { return }
    for change in unchanged where trial.paths.contains(change.path) {
      records[change.path]?.proof.timesRewritten += 1
    }
  }

  mutating func beginTrial(of paths: [Path]) {
    trial = Trial(paths: paths)
  }

  /// The follow-up has changed something.
  mutating func failTrial() {
    guard let trial, trial.hasLaunched else { return }
    self.trial = nil
    for path in trial.paths { update(path) { $0.proof.timesInVain = 0 } }
  }

  /// All runs of the follow-up have ended, and it has changed nothing.
  mutating func concludeTrial(_ knowledge: Knowledge) -> [Action] {
    if trial?.hasLaunched == false { trial?.results = knowledge.results }
    guard let trial, trial.hasLaunched else { return [] }
    self.trial = nil
    guard trial.results == knowledge.results, knowledge.hasOneWriter else { return [] }
    return countVain(trial.paths)
  }

  /// The follow-up is an active run, which ends without a result. It has changed nothing if it lasted
  /// clearly longer than the runs before took to change the path. It may rewrite the paths of the trial,
  /// unchanged.
  mutating func endTrial(for changes: [PendingChange], at now: Instant) -> [Action] {
    guard restartsOnChange, let trial, trial.hasLaunched,
      !changes.allSatisfy({ trial.paths.contains($0.path) })
    else { return [] }
    self.trial = nil
    let time = offset(at: now)
    return countVain(
      trial.paths.filter { path in
        let offset = records[path]?.count.offset
        return offset.map { time > $0 * RepetitionCount.Rules.endOfRow + .milliseconds(500) }
          ?? false
      })
  }

  private mutating func countVain(_ paths: [Path]) -> [Action] {
    var outputs: [Path] = []
    for path in paths where records[path]?.isEdited == false {
      let wasProved = isProved(path)
      records[path]?.proof.timesInVain += 1
      if !wasProved && isProved(path) { outputs.append(path) }
    }
    return outputs.isEmpty ? [] : [.announceOutputs(outputs)]
  }
}
