import FileObservation
import Support
import SystemCalls

/// Who made a change, as far as that is known.
typealias Verdict = Suspicion.Verdict

/// What the processes of all runs had done at some times, and what that proves about a change. It proves
/// that others made it, or nothing.
///
/// The kernel counts what processes write, and how often their threads have stopped to run. If a file was
/// written between two looks, between which no process has written, started or ended, then no process of
/// the runs wrote it. If no thread has run between two looks, no process has changed anything.
struct ActivityLog: Sendable {
  /// What was seen by a look.
  private struct Sample {
    /// The time before the first process was queried, and that after the last one.
    let began: FileTime
    let ended: FileTime
    let activity: ProcessActivity
    /// Whether the first change of a burst was reported just before.
    let beginsBurst: Bool

    /// Whether nothing was done between both, of which none begins a burst.
    func isSame(as other: Sample) -> Bool {
      activity == other.activity && !beginsBurst && !other.beginsBurst
    }

    /// Whether all that was done before is counted. A thread that runs may be in the middle of a change.
    var isComplete: Bool { !activity.isRunning }
  }

  /// A change about which evidence is asked for.
  struct Subject: Sendable {
    let isRemoval: Bool
    /// `nil` if the path no longer exists.
    let status: FileStatus?
    /// Whether nothing else has changed in the burst.
    var isAlone = false
  }

  private static let mostSamples = 64
  private static let mostFailures = 8
  /// By how much the timestamp of a change may precede it.
  private static let clockTick = Duration.milliseconds(10)
  /// How long after it was made a change is reported by the kernel, at most.
  private static let delayOfReports = Duration.milliseconds(50)

  private var samples: [Sample] = []
  /// How many looks in a row have failed.
  private var failureCount = 0
  /// When the kernel reported the first change of the burst that is under way.
  private var burstBegan: FileTime?

  /// Adds what was seen by a look, which is later than all others. Of many looks between which nothing was
  /// done, the first and the last are kept.
  ///
  /// - Parameter activity: `nil` if the kernel does not tell it.
  mutating func add(
    _ activity: ProcessActivity?, began: FileTime, ended: FileTime, beginsBurst: Bool = false
  ) {
    if beginsBurst { burstBegan = began }
    guard let activity else {
      failureCount += 1
      return
    }
    failureCount = 0
    let sample = Sample(began: began, ended: ended, activity: activity, beginsBurst: beginsBurst)
    let isSame = samples.suffix(2).count { $0.isSame(as: sample) } == 2
    if isSame { samples.removeLast() }
    samples.append(sample)
    if samples.count > Self.mostSamples { samples.removeFirst() }
  }

  /// Whether the kernel tells nothing. A single look may fail because a process ends meanwhile.
  var isBlind: Bool { samples.isEmpty || failureCount > Self.mostFailures }

  /// The evidence about a change.
  func evidence(about subject: Subject) -> Verdict {
    guard let times = times(of: subject),
      let after = samples.first(where: { $0.isComplete && isLater($0, than: times.latest, subject) }
      )?
      .activity,
      let before = last(before: times.change)
    else { return .unknown }
    let old = before.activity
    let isIdle = old.switches == after.switches && old.writes.processes == after.writes.processes
    let isNotWritten =
      times.content.map { last(before: $0)?.activity.writes == after.writes } ?? false
    return isIdle || isNotWritten ? .others : .unknown
  }

  /// Whether a look began after a change that has this timestamp. The first change of a burst was reported
  /// before the look that begins the burst, others need not have been.
  private func isLater(_ sample: Sample, than time: FileTime, _ subject: Subject) -> Bool {
    if sample.beginsBurst && subject.isAlone { return sample.began >= time }
    return sample.began > time.advanced(by: Self.clockTick)
  }

  private func last(before time: FileTime) -> Sample? { samples.last { $0.ended < time } }

  private struct Times {
    /// Before it, nothing was changed.
    var change: FileTime
    /// Before it, no content was written; `nil` if none needed to be.
    var content: FileTime?
    /// After it, nothing was changed.
    var latest: FileTime
  }

  private func times(of subject: Subject) -> Times? {
    guard let status = subject.status, !subject.isRemoval else {
      // When it was removed is not known.
      guard subject.isAlone else { return nil }
      return burstBegan.map {
        Times(change: $0.advanced(by: .zero - Self.delayOfReports), latest: $0)
      }
    }
    switch status.type {
    case .directory:
      return status.born.map { Times(change: $0, latest: status.changed) }
    case .file where status.size > 0:
      let written = min(status.modified, status.changed)
      return Times(change: status.changed, content: written, latest: status.changed)
    case .file, .symlink, .other, .unknown:
      return Times(change: status.changed, latest: status.changed)
    }
  }
}
