import FileObservation
import Support
import SystemCalls

// Decides which changes stop a build, so that it begins anew with what they hold.

extension ChangeJudge {
  /// The paths of which it must be known, in a run that ends by itself, what they hold.
  func pathsToCompare(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict], inBuild: Bool
  ) -> [(path: Path, isMovedAsWhole: Bool)] {
    PendingChange.all(of: changes, evidence).filter { change in
      if change.verdict == .unknown, let record = records[change.path], mayBeTakenBack(record) {
        return true
      }
      return inBuild
        && (change.verdict == .others || change.verdict == .unknown && mayBeSaved(change))
    }.prefix(ContentReader.mostFiles).map { ($0.path, false) }
  }

  /// Whether a change of the path in a run may be a save that is taken back before the end, though the result is one of
  /// it. What changes in one run after the other is rewritten by them.
  private func mayBeTakenBack(_ record: Record) -> Bool {
    // Runs make files and remove them again.
    let isThere = record.knownContent.map { $0 != .absent } ?? false
    return record.isEdited
      || isThere && !record.proof.wasOpen && record.suspicion.level() == 0
  }

  /// The build begins anew, with what these changes hold now, and what changes then counts again.
  mutating func stopBuild(
    for changes: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    if changes.isEmpty { return [] }
    note(changes, at: now, isBesideLasting: hasInterruptibleService, in: workTime)
    for change in changes {
      if let state = knowledge.files[change.path] {
        records[change.path]?.judgedContent = state.content
      }
    }
    let run = runAtOnce(changes, at: now)
    return explain(changes, at: now) + run + (owesRun ? [.stopBuilds(changes.map(\.path))] : [])
  }

  /// Whether the path holds what it held when the runs began.
  func isUnchanged(_ change: PendingChange, _ knowledge: Knowledge) -> Bool {
    let known = records[change.path]?.knownContent
    return known != nil && known == knowledge.files[change.path]?.content
  }

  /// Whether a change stops a build: one that others are proved to make, or of a path that people type, or edit,
  /// unless it holds what it held when the build began, or changes after each start. A build that changes one path after
  /// the other is not stopped for ever either (`TaskStateMachine.mostStops`).
  func stopsBuild(
    _ change: PendingChange, at now: Instant, _ knowledge: Knowledge
  ) -> Bool {
    if isUnchanged(change, knowledge) { return false }
    let file = knowledge.files[change.path]
    let record = records[change.path]
    switch change.verdict {
    case .others:
      // Others may follow the starts as well.
      let time = offset(at: change.time ?? now)
      return (keys(of: change).compactMap { records[$0]?.suspicion } + [common]).allSatisfy {
        $0.delay(of: .others, number: nextNumber) == .zero || !$0.isExpected(time)
      }
    case .run: return false
    case .unknown:
      // A directory is changed by what is made in it.
      guard mayBeSaved(change), file?.content != .directory else { return false }
      let delay = record?.suspicion.delay(number: nextNumber) ?? .zero
      // A test would keep what people have saved from the build.
      if record?.isEdited == true { return delay <= Suspicion.Rules.test.most }
      return delay == .zero && file?.isBuilt == false
    }
  }

  /// Takes the changes that are judged while a build works in a service, and leaves what that has probably made:
  /// compilers make such files, and it was written since the start. A restart would make it again, and stop
  /// that again.
  mutating func takeNotMade(at now: Instant, _ knowledge: Knowledge) -> [PendingChange] {
    var (rest, latest) = ([PendingChange](), latestMade)
    for var change in takeUnjudged() {
      guard isMade(change, knowledge) else {
        rest.append(change)
        continue
      }
      if !change.isCounted {
        note([change], at: now, isBesideLasting: true)
        latest = now
      }
      change.isCounted = true
      records[change.path, default: Record()].unjudged = change
      unjudged.append(change.path)
    }
    latestMade = unjudged.isEmpty ? nil : latest ?? now
    return rest
  }

  private func isMade(_ change: PendingChange, _ knowledge: Knowledge) -> Bool {
    guard change.verdict != .others, records[change.path]?.isEdited != true, let lastLaunch,
      let file = knowledge.files[change.path], file.isBuilt, let modified = file.modified
    else { return false }
    return modified >= lastLaunch.files
  }

  /// Whether people, rather than builds, may make such a change of a path: what a build has made is new at first, and
  /// may be removed when it is stopped.
  private func mayBeSaved(_ change: PendingChange) -> Bool {
    let record = records[change.path]
    if let record, record.isEdited || record.wasJudged { return record.isEdited }
    let isNew = change.wasAbsent || record?.unjudged?.wasAbsent == true
    if !isNew { return !change.isOfEntry }
    return editedKinds.contains(FileKind(change.path))
  }
}
