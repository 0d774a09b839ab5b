import Support
import SystemCalls

// Finds the outputs: paths that only runs change, and whose changes need no follow-up.
//
// `make` builds a program, and the follow-up for the program finds it up to date. A trial observes a
// follow-up: if it changes nothing and ends as the run before, it was in vain.

extension Rounds {
  /// A follow-up that is observed.
  struct Trial: Hashable, Sendable {
    /// The paths for which it runs.
    let paths: [Path]
    /// How the runs before it ended; `nil` until the judgment is complete.
    var results: [String: ExitStatus]?
    /// Whether it has begun.
    var hasLaunched = false
  }

  /// The number of follow-ups in vain that make a path an output.
  private static let vainFollowUps = 2
  private static let mostPossibleOutputs = 16_384

  mutating func beginTrial(of paths: [Path]) {
    trial = Trial(paths: paths)
  }

  /// The follow-up has changed something.
  mutating func failTrial() {
    guard let trial, trial.hasLaunched else { return }
    self.trial = nil
    for path in trial.paths {
      update(path) { if case .written = $0.origin { $0.origin = .written(vain: 0) } }
    }
  }

  /// All runs of the follow-up have ended, and it has changed nothing.
  mutating func concludeTrial(_ facts: Facts) -> [Action] {
    if trial?.hasLaunched == false { trial?.results = facts.results() }
    guard let trial, trial.hasLaunched else { return [] }
    self.trial = nil
    guard trial.results == facts.results(), facts.hasOneWriter() else { return [] }
    return countVain(trial.paths)
  }

  /// The follow-up is an active run, which ends without a result. It has changed nothing if it lasted
  /// clearly longer than the runs before took to change the path. It may rewrite the paths of the trial,
  /// unchanged.
  mutating func endTrial(
    for changes: [PendingChange], at now: Instant, _ facts: Facts
  ) -> [Action] {
    guard isLive, facts.isSteady(), let trial, trial.hasLaunched, let lastLaunch,
      !changes.allSatisfy({ trial.paths.contains($0.path) })
    else { return [] }
    self.trial = nil
    let time = lastLaunch.duration(to: now)
    return countVain(
      trial.paths.filter { path in
        records[path]?.offset.map { time > $0 * 1.5 + .milliseconds(500) } ?? false
      })
  }

  private mutating func countVain(_ paths: [Path]) -> [Action] {
    if records.count(where: \.value.isPossibleOutput) > Self.mostPossibleOutputs {
      updateAll { if $0.isPossibleOutput { $0.origin = .written(vain: 0) } }
    }
    var outputs: [Path] = []
    for path in paths {
      guard case .written(let vain) = records[path]?.origin else { continue }
      let isOutput = vain + 1 >= Self.vainFollowUps
      records[path]?.origin = isOutput ? .output : .written(vain: vain + 1)
      if isOutput { outputs.append(path) }
    }
    return outputs.isEmpty ? [] : [.announceOutputs(outputs)]
  }
}
