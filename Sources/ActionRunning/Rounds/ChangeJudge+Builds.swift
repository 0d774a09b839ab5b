import FileObservation
import Support
import SystemCalls

// Decides which changes stop a build, so that it begins anew with what they hold.

extension ChangeJudge {
  /// The work of builds in a row that changes of a path stop, each at the same time after its start.
  private static let longestRebuilding = Duration.seconds(10)

  /// The paths of which it must be known, in a build, whether compilers make such files.
  func pathsToClassify(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict]
  ) -> [Path] {
    changes.filter { change in
      evidence[change.path] != .run
        && records[change.path].map { !$0.isEdited && !$0.wasJudged }
          ?? (change.kind == .modified || isOfEditedKind(change.path))
    }.prefix(ContentReader.mostFiles).map(\.path)
  }

  /// The paths that others may have changed in a build, of which it must be known what they hold.
  func pathsToCompare(
    _ changes: [ChangeBatch.Change], _ evidence: [Path: Verdict]
  ) -> [(path: Path, isMovedAsWhole: Bool)] {
    changes.filter { change in
      switch evidence[change.path] {
      case .others: true
      case .run: false
      case .unknown, nil: records[change.path].map { $0.isEdited || !$0.wasJudged } ?? false
      }
    }.prefix(ContentReader.mostFiles).map { ($0.path, false) }
  }

  /// Keeps changes during a build, which are judged at its end, unless they stop it.
  mutating func changedInBuild(
    _ changes: [PendingChange], at now: Instant, _ knowledge: Knowledge
  ) -> [Action] {
    let time = offset(at: now)
    let others = changes.filter { stopsBuild($0, after: time, knowledge) }
    let paths = Set(others.map(\.path))
    // What others have left as it was stays known.
    note(
      changes.filter { paths.contains($0.path) || $0.verdict != .others }, at: now)
    add(changes.filter { !paths.contains($0.path) })
    if others.isEmpty { return [] }
    // The build begins anew, with what they hold now, and what changes then counts again.
    answered(others)
    for change in others {
      if let state = knowledge.files[change.path] {
        records[change.path]?.judgedContent = state.content
      }
    }
    return explain(others) + runAtOnce(others, at: now)
  }

  /// Whether people edit files of this kind, which a name without an ending does not tell.
  private func isOfEditedKind(_ path: Path) -> Bool {
    let kind = FileKind(path)
    return kind.ending != nil && editedKinds.contains(kind)
  }

  /// Whether a change stops a build: one that others are proved to make, or of a path that people type, or edit,
  /// unless it holds what it held when the build began. What a build writes changes at the same time after each
  /// start, so after a few changes in a row only one at another time does. One that changes one path after the
  /// other is not stopped for ever either (`TaskStateMachine.mostStops`).
  private func stopsBuild(
    _ change: PendingChange, after time: Duration, _ knowledge: Knowledge
  ) -> Bool {
    switch change.verdict {
    case .others:
      let known = records[change.path]?.knownContent
      return known == nil || known != knowledge.files[change.path]?.content
    case .run: return false
    case .unknown:
      guard let record = records[change.path] else { return isTyped(change, knowledge) }
      if isInRow(record, after: time) && record.suspicion.isExpected(time) { return false }
      if !record.isEdited && record.wasJudged { return false }
      if record.knownContent == knowledge.content(of: change.path) { return false }
      if record.isEdited { return true }
      let hasChangedBefore = record.suspicion.length() > 0
      guard let kept = record.unjudged else {
        // Its former changes have stopped builds, or a run has received them.
        return hasChangedBefore || isTyped(change, knowledge)
      }
      // What was kept for the end of a build that was stopped may be its own, and was removed with it.
      let isRemoval = change.isOfEntry && !change.wasAbsent
      return hasChangedBefore && !isRemoval && isTyped(kept, knowledge)
    }
  }

  /// Whether people rather than builds make such a change of a path that has never changed before.
  private func isTyped(_ change: PendingChange, _ knowledge: Knowledge) -> Bool {
    (!change.wasAbsent || isOfEditedKind(change.path)) && !knowledge.built.contains(change.path)
  }

  /// Whether the path has changed in more starts in a row than stop a build: in the fewer, the more of its work
  /// that costs.
  private func isInRow(_ record: Record, after time: Duration) -> Bool {
    typealias Rules = Suspicion.Rules
    let most = min(Self.longestRebuilding / max(time, .milliseconds(1)), Rules.free + Rules.tests)
    return record.suspicion.row >= Int(max(Rules.free, most))
  }
}
