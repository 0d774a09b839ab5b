import FileObservation
import Support
import Synchronization
import SystemCalls

/// Looks at the processes of all runs of a runner: when a run starts, more and more rarely after that, when a
/// change is reported, and for a while often, after a path has changed for which a run is suspected.
final class ActivityMonitor: Sendable {
  /// How often processes are looked at after a suspicious change, and for how long: ten seconds after the last
  /// change, nothing wakes up any more, also not a thread of Dispatch that ends, which is five seconds later.
  private static let close = (pause: Duration.milliseconds(10), time: Duration.seconds(4))
  /// The first pause after a start, and the last one: each is twice as long as the one before.
  private static let rare = (first: Duration.milliseconds(500), last: Duration.seconds(2))
  /// A pause is at least so many times as long as the processor time of the look before it; soon after a start, when
  /// the shell has just done its work, less.
  private static let share = (later: 100, first: 10, time: Duration.milliseconds(250))

  private struct State {
    var log = ActivityLog()
    /// The groups of processes that have not ended, by the numbers of their starts.
    var groups: [UInt64: any LaunchedGroup] = [:]
    /// The number of starts: a process may start and end between two looks.
    var startCount: UInt64 = 0
    /// The number of orphans that had ended when it was asked for orphans the last time.
    var endedOrphans: UInt64 = 0
    /// Whether a process is being started, whose group is not known yet.
    var isStarting = false
    var latestStart: Instant?
    /// When the first change of the burst that is under way was reported.
    var burst: Instant?
    var closeWatch: CloseWatch?
    var timer: (any ScheduledWork)?
    var rareTimer: (any ScheduledWork)?
  }

  private struct CloseWatch {
    let began: Instant
    /// Whether any path is still suspected.
    let isNeeded: @Sendable () -> Bool
  }

  private let state = Mutex(State())
  private let launcher: any ProcessLauncher
  private let scheduler: any Scheduler
  private let processorTime: @Sendable () -> Duration

  /// - Parameters:
  ///   - scheduler: Does work on the queue of the runner.
  ///   - processorTime: The clock of what a look costs.
  init(
    _ launcher: any ProcessLauncher, scheduler: any Scheduler,
    processorTime: @escaping @Sendable () -> Duration = { processorTimeOfThread() }
  ) {
    self.launcher = launcher
    self.scheduler = scheduler
    self.processorTime = processorTime
  }

  /// A process is about to be started. Until `hasLaunched` is called, no look proves anything.
  ///
  /// - Returns: The number of the start.
  func willLaunch() -> UInt64 {
    look()
    return state.withLock { state in
      state.isStarting = true
      state.startCount += 1
      return state.startCount
    }
  }

  /// The group of the process is known; `nil` if it could not be started.
  func hasLaunched(_ group: (any LaunchedGroup)?, number: UInt64) {
    let now = scheduler.now
    state.withLock { state in
      state.isStarting = false
      state.groups[number] = group
      state.latestStart = now
    }
    look()
    resumeCloseWatch()
    lookRarely(after: Self.rare.first)
  }

  private var groups: [any LaunchedGroup] { state.withLock { Array($0.groups.values) } }

  private var isIdle: Bool { groups.isEmpty && !hasOrphans }

  /// Looks at the processes. May be called on any thread.
  ///
  /// - Parameter beginsBurst: Whether the first change of a burst has been reported.
  func look(beginsBurst: Bool = false) {
    // Others may look meanwhile, so that the one that began later is added later.
    let began = FileTime.latest()
    let now = scheduler.now
    let (isStarting, startCount) = state.withLock { state in
      if beginsBurst { state.burst = now }
      return (state.isStarting, state.startCount)
    }
    var activity = launcher.activity(of: groups)
    activity?.writes.processes &+= startCount
    if isStarting {
      // What it does before its group is known is not counted: the look equals none after that.
      activity?.writes.processes &+= 1 << 63
      activity?.isRunning = true
    }
    let ended = FileTime.latest()
    state.withLock { state in
      state.log.add(activity, began: began, ended: ended, beginsBurst: beginsBurst)
    }
  }

  /// When the first change was reported of the burst that is delivered; `nil` if that is not known, or of a part of it
  /// that was delivered before.
  func takeBurst() -> Instant? {
    state.withLock { $0.burst.take() }
  }

  /// The evidence about changes that were just reported. Looks at the processes once more if earlier looks
  /// prove nothing.
  ///
  /// - Parameter areAll: Whether nothing else has changed in the burst, which has just begun with them.
  func evidence(about changes: [ChangeBatch.Change], areAll: Bool = false) -> [Path: Verdict] {
    var subjects: [Path: ActivityLog.Subject] = [:]
    let isAlone = areAll && changes.count == 1 && changes.first?.from == nil
    for change in changes.prefix(ContentReader.mostFiles) {
      let status = try? FileStatus(of: change.path)
      subjects[change.path] = ActivityLog.Subject(
        isRemoval: change.kind == .removed || status == nil, status: status, isAlone: isAlone)
      if let former = change.from {
        subjects[former] = ActivityLog.Subject(isRemoval: true, status: nil)
      }
    }
    var result = evidence(about: subjects)
    // What is printed for a run is written on its behalf, also after its end.
    var written = launcher.filesOfReaders(Array(subjects.keys))
    if !result.values.allSatisfy({ $0 == .others }) {
      look()
      result = evidence(about: subjects)
      let unproved = result.filter { $0.value != .others }.map(\.key)
      for group in groups {
        // A person may edit a text that a server has open to update it.
        written.formUnion(
          group.filesOpenForWriting(unproved).filter { path, mode in
            mode == .write || !FileKind.isText(path)
          }.keys)
      }
    }
    for path in written { result[path] = .run }
    return result
  }

  private func evidence(about subjects: [Path: ActivityLog.Subject]) -> [Path: Verdict] {
    let log = state.withLock { $0.log }
    return subjects.mapValues(log.evidence)
  }

  /// Looks at the processes often from now on, so that the next change meets a recent look.
  ///
  /// - Parameter isNeeded: Whether any path is still suspected.
  func watchClosely(while isNeeded: @escaping @Sendable () -> Bool) {
    let now = scheduler.now
    state.withLock { $0.closeWatch = CloseWatch(began: now, isNeeded: isNeeded) }
    resumeCloseWatch()
  }

  /// Pauses while nothing runs, as between the stop of a run and the start of the next one.
  private func resumeCloseWatch() {
    let isDue = state.withLock { $0.closeWatch != nil && $0.timer == nil }
    if isDue && !isIdle { lookLater(after: Self.close.pause) }
  }

  private func lookLater(after pause: Duration) {
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      self?.lookOften()
    }
    state.withLock { $0.timer = timer }
  }

  /// A server that is left alone is proved to have written nothing since the latest look.
  private func lookRarely(after pause: Duration) {
    let timer = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [weak self] in
      guard let self, !isIdle else { return }
      look()
      if pause < Self.rare.last { lookRarely(after: pause * 2) }
    }
    state.withLock { exchange(&$0.rareTimer, with: timer) }?.cancel()
  }

  private func lookOften() {
    let now = scheduler.now
    let (watch, latestStart) = state.withLock { state in
      state.timer = nil
      return (state.closeWatch, state.latestStart)
    }
    guard let watch else { return }
    let isEarly = latestStart.map { $0.duration(to: now) < Self.share.time } ?? false
    let time = watch.began.duration(to: now)
    let before = processorTime()
    if time >= Self.close.time || !watch.isNeeded() {
      return state.withLock { $0.closeWatch = nil }
    }
    if isIdle { return }
    look()
    let cost = processorTime() - before
    if state.withLock({ $0.log.isBlind }) {
      return state.withLock { $0.closeWatch = nil }
    }
    lookLater(after: max(Self.close.pause, cost * (isEarly ? Self.share.first : Self.share.later)))
  }

  /// Stops to look.
  func end() {
    let timers = state.withLock { state in
      state.groups = [:]
      state.closeWatch = nil
      return [state.timer.take(), state.rareTimer.take()]
    }
    for timer in timers { timer?.cancel() }
  }
}

/// Starts the processes that it looks at.
extension ActivityMonitor: ProcessLauncher {
  func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let number = willLaunch()
    do throws(SystemError) {
      let group = try launcher.launch(request) { [self] status in
        state.withLock { $0.groups[number] = nil }
        ended(status)
      }
      hasLaunched(group, number: number)
      return group
    } catch {
      hasLaunched(nil, number: number)
      throw error
    }
  }

  func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool {
    launcher.hasTerminal(orCall: retry)
  }

  func activity(of groups: [any LaunchedGroup]) -> ProcessActivity? {
    launcher.activity(of: groups)
  }

  var hasOrphans: Bool { launcher.hasOrphans }

  var endedOrphans: UInt64 { launcher.endedOrphans }

  /// Whether orphans are there, or were since this was asked the last time: they may have made a change that has
  /// just been reported.
  func hadOrphans() -> Bool {
    let areThere = hasOrphans
    let ended = endedOrphans
    return state.withLock { state in
      defer { state.endedOrphans = ended }
      return areThere || ended != state.endedOrphans
    }
  }

  /// Orphans that have ended by now have made no later change.
  func forgetEndedOrphans() {
    let ended = endedOrphans
    state.withLock { $0.endedOrphans = ended }
  }

  func filesOfReaders(_ paths: [Path]) -> Set<Path> { launcher.filesOfReaders(paths) }
}
