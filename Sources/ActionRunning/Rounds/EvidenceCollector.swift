import Dispatch
import FileObservation
import Support
import SystemCalls

/// Gathers what is known of changes during an active run: what its processes have done (`ActivityLog`),
/// which files they have open, and what is on the disk. All of it is called on the queue.
final class EvidenceCollector: Sendable {
  /// The looks at the processes of the active run.
  private let log: Confined<ActivityLog>
  private let reader = ContentReader()

  init(on queue: DispatchQueue) {
    log = Confined(ActivityLog(began: .now()), to: queue)
  }

  /// Whether the active run has had the same processes for a while.
  var isSteady: Bool { log.access(\.isSteady) }

  /// A run begins.
  ///
  /// - Parameter activity: What its processes had done before; `nil` if there were none.
  func runBegan(_ activity: ProcessActivity?) {
    log.access { $0 = ActivityLog(began: .now(), with: activity, after: $0) }
  }

  /// Adds what its processes have done until now.
  func add(_ activity: ProcessActivity) {
    log.access { $0.add(ActivityLog.Look(time: .latest(), activity: activity)) }
  }

  /// What is known of changes that were reported.
  func clues(to changes: [Rounds.PendingChange], _ client: RoundController.Client) -> [Clue] {
    let few = changes.prefix(ContentReader.mostFiles)
    let open = client.filesOpenForWriting(few.map(\.path))
    // What a run writes after this query does not count as larger than what it has written.
    let statuses = few.map { try? FileStatus(of: $0.path) }
    let now = client.activity().map { ActivityLog.Look(time: .latest(), activity: $0) }
    return changes.enumerated().map { index, change in
      let status = index < few.count ? statuses[index] : nil
      let evidence = log.access { log in
        if let status { log.note(changedAt: status.changed) }
        return log.evidence(
          aboutChangeAt: status?.changed, isContent: change.isContent, now)
      }
      var clue = Clue(
        evidence: evidence, mayBeOfRun: status.flatMap { mayBeOfRun(change.path, $0, now) })
      if open.contains(change.path) { clue.evidence = .open }
      if let status { clue.age = max(status.changed.duration(to: .latest()), .zero) }
      return clue
    }
  }

  private func mayBeOfRun(
    _ path: Path, _ status: FileStatus, _ now: ActivityLog.Look?
  ) -> Bool? {
    func mayHaveWritten(_ size: UInt64) -> Bool? {
      log.access { $0.mayHaveWritten(size: size, changedAt: status.changed, now) }
    }
    let result = mayHaveWritten(status.size)
    guard result == false, let size = reader.countOfNonzero(path, size: status.size) else {
      return result
    }
    return mayHaveWritten(size)
  }
}
