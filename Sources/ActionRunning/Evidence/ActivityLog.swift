import FileObservation
import Support
import SystemCalls

/// What is known of who made a change: a verdict, and how recent the look was on which it rests.
struct Evidence: Hashable, Sendable {
  typealias Verdict = RepetitionCount.Verdict

  var verdict = Verdict.unknown
  /// How often the processes had done something, if they were looked at shortly before the change and have
  /// done something since.
  var activity: Int?
}

/// What the processes of all runs had done at some times, and what that proves about a change. It proves
/// that others made it, or nothing.
///
/// The kernel counts what processes write, and how often their threads have stopped to run. If a file was
/// written between two looks, between which no process has written, started or ended, then no process of
/// the runs wrote it. If no thread has run between two looks, no process has changed anything.
struct ActivityLog: Sendable {
  struct Look: Hashable, Sendable {
    /// The time before the first process was queried, and that after the last one.
    let began: FileTime
    let ended: FileTime
    /// `nil` if the kernel does not tell it.
    let activity: ProcessActivity?
    /// Whether the first change of a burst was reported just before.
    var beginsBurst = false
  }

  /// A change about which evidence is asked for.
  struct Subject: Sendable {
    let isRemoval: Bool
    /// `nil` if the path no longer exists.
    let status: FileStatus?
    /// Whether nothing else has changed in the burst.
    var isAlone = false
  }

  private static let mostLooks = 64
  private static let mostFailures = 8
  /// A look before a change that is not older is recent: few processes write by coincidence meanwhile.
  private static let recent = Duration.milliseconds(60)
  /// By how much the timestamp of a change may precede it.
  private static let clockTick = Duration.milliseconds(10)
  /// How long after the start of a run what it does is no activity of its own.
  private static let startTime = Duration.milliseconds(300)
  /// How long after it was made a change is reported by the kernel, at most.
  private static let delayOfReports = Duration.milliseconds(50)

  /// Those that have not failed.
  private var looks: [Look] = []
  /// How many looks in a row have failed.
  private var failureCount = 0
  /// In how many pauses between two looks the processes have written something, started or ended, without
  /// the starts and stops of runs.
  private var activityCount = 0
  private var latestStart = FileTime(nanoseconds: 0)
  /// When the kernel reported the first change of the burst that is under way.
  private var burstBegan: FileTime?

  /// Adds a look, which is later than all others. Of many looks between which nothing was done, the first
  /// and the last are kept.
  mutating func add(_ look: Look) {
    if look.beginsBurst { burstBegan = look.began }
    guard let now = look.activity?.writes else {
      failureCount += 1
      return
    }
    failureCount = 0
    let before = looks.last?.activity?.writes
    // What a run did is no longer counted when it has been stopped.
    let wasStopped = before.map { now.hasDecreased(since: $0) } ?? false
    if before != now, !wasStopped, latestStart.duration(to: look.began) > Self.startTime {
      activityCount += 1
    }
    let isSame = looks.suffix(2).count { $0.isSame(as: look) } == 2
    if isSame { looks.removeLast() }
    looks.append(look)
    if looks.count > Self.mostLooks { looks.removeFirst() }
  }

  /// A run starts.
  mutating func runStarts(at time: FileTime) {
    latestStart = time
  }

  /// Whether the kernel tells nothing. A single look may fail because a process ends meanwhile.
  var isBlind: Bool { looks.isEmpty || failureCount > Self.mostFailures }

  /// The evidence about a change.
  func evidence(about subject: Subject) -> Evidence {
    guard let times = times(of: subject),
      let after = looks.first(where: { $0.isComplete && isLater($0, than: times.latest, subject) })?
        .activity,
      let before = last(before: times.change), let old = before.activity
    else { return Evidence() }
    let isIdle = old.switches == after.switches && old.writes.processes == after.writes.processes
    let isNotWritten =
      times.content.map { last(before: $0)?.activity?.writes == after.writes } ?? false
    if isIdle || isNotWritten { return Evidence(verdict: .others) }
    let isRecent = before.ended.duration(to: times.change) < Self.recent
    return Evidence(activity: isRecent ? activityCount : nil)
  }

  /// Whether a look began after a change that has this timestamp. The first change of a burst was reported
  /// before the look that begins the burst, others need not have been.
  private func isLater(_ look: Look, than time: FileTime, _ subject: Subject) -> Bool {
    if look.beginsBurst && subject.isAlone { return look.began >= time }
    return look.began > time.advanced(by: Self.clockTick)
  }

  private func last(before time: FileTime) -> Look? { looks.last { $0.ended < time } }

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

extension ActivityLog.Look {
  /// Whether nothing was done between both looks, of which none begins a burst.
  fileprivate func isSame(as other: Self) -> Bool {
    activity == other.activity && !beginsBurst && !other.beginsBurst
  }

  /// Whether all that was done before is counted. A thread that runs may be in the middle of a change.
  fileprivate var isComplete: Bool { activity?.isRunning == false }
}
