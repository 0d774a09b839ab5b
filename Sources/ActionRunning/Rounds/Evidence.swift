import SystemCalls

/// What the processes of an active run tell about a change: whether one of them made it.
enum Evidence: Hashable, Sendable {
  /// It was made before the run began, and only reported later.
  case before
  /// None of them has written anything since before the change.
  case innocent
  /// One of them has the path open for writing.
  case open
  /// Processes of the run have started or ended since, so that it was made while the run prepared its
  /// start, as a build does. The latest one started so recently that others may follow.
  case launching
  /// The same, and no other process has started for a while.
  case launched
  /// They have written something between a look before the change and the present. The less they write
  /// at other times, the more bits of evidence that is.
  case wrote(bits: Double)
  /// It is not known when the change was made.
  case unknownTime
  /// The kernel tells nothing: on other systems than Linux, and for processes of other users.
  case none
}

/// What is known of a change during an active run.
struct Clue: Sendable {
  var evidence = Evidence.none
  /// How long ago it was made.
  var age = Duration.zero
  /// Whether the run may have written the whole file: as many bytes at least since a look well before the
  /// change. `nil` if that is not known.
  var mayBeOfRun: Bool?

  /// Whether the run cannot have made it.
  var excludesRun: Bool { evidence == .innocent || mayBeOfRun == false }
}

/// The activity of the processes of one run, as it was at some times since their start.
///
/// A process that has written nothing between two looks has changed no file between them. The
/// kernel counts all writes, so that more of them prove nothing.
struct ActivityLog: Sendable {
  struct Look: Sendable {
    let time: FileTime
    let activity: ProcessActivity
  }

  private static let mostLooks = 16
  /// How long writes are remembered.
  private static let memory = Duration.seconds(20)
  /// Until the looks say more, a run counts as one that writes once in twice this time.
  private static let prior = Duration.milliseconds(500)
  /// The granularity of the start times of processes.
  private static let tick = Duration.milliseconds(10)
  /// The size from which on a file may have been written by way of a memory map, as linkers do. A small
  /// write makes some pages dirty as well.
  private static let leastMapped: UInt64 = 65_536
  /// How long before its change a file may have been begun to be written.
  private static let longestWrite = Duration.milliseconds(500)
  /// How long after the start of its latest process a run may start others.
  private static let launchTime = Duration.seconds(1)

  /// The beginning of the run, or its latest signal.
  private let first: Look
  private var began: FileTime { first.time }
  private var looks: [Look] = []
  /// The latest change of a path, as far as evidence was asked for.
  private var lastChange = FileTime(nanoseconds: 0)
  /// Of the pauses between two looks in which no path changed: how long they were, and in how many of
  /// them the run wrote something. Those of former runs count as well.
  private var pauses = (time: Duration.zero, busy: 0.0)

  /// - Parameters:
  ///   - activity: What its processes had done at the beginning; `nil` if there were none.
  ///   - former: The log of the run before.
  init(
    began: FileTime, with activity: ProcessActivity? = nil, after former: ActivityLog? = nil
  ) {
    let nothing = ProcessActivity(
      writes: ProcessActivity.Writes(bytes: 0), newestStart: FileTime(nanoseconds: 0))
    first = Look(time: began, activity: activity ?? nothing)
    if let former { pauses = former.pauses }
  }

  /// Adds a look. Its time is that of its end, so that a later change is not part of it.
  mutating func add(_ look: Look) {
    if let last = looks.last, lastChange <= last.time {
      if pauses.time >= Self.memory { pauses = (pauses.time / 2, pauses.busy / 2) }
      pauses.time += last.time.duration(to: look.time)
      if last.activity.writes != look.activity.writes { pauses.busy += 1 }
    }
    looks.append(look)
    if looks.count > Self.mostLooks { looks.removeFirst() }
  }

  /// Whether the same processes were active at the latest looks.
  var isSteady: Bool {
    let latest = looks.suffix(3)
    return latest.count == 3 && Set(latest.map(\.activity.writes.processes)).count == 1
  }

  /// The evidence about the change of a path.
  ///
  /// - Parameters:
  ///   - time: When the path changed; `nil` if that is not known, because it no longer exists.
  ///   - isContent: Whether content was written. The kernel does not count removals and changes of
  ///     attributes.
  ///   - now: A look after the change.
  func evidence(
    aboutChangeAt time: FileTime?, isContent: Bool, _ now: Look?
  ) -> Evidence {
    guard let now else { return .none }
    guard let time else { return .unknownTime }
    if time < began { return .before }
    let isEarly = time < looks.first?.time ?? .init(nanoseconds: .max)
    if isEarly, let launch = isLaunching(now, since: time) { return launch }
    let last = looks.last { $0.time <= time } ?? first
    let (before, after) = (last.activity.writes, now.activity.writes)
    let hasOtherProcesses = !isEarly && before.processes != after.processes
    if isContent, before.bytes == after.bytes, before.childFaults == after.childFaults,
      !hasOtherProcesses
    {
      return .innocent
    }
    if let launch = isLaunching(now, since: hasOtherProcesses ? nil : time) { return launch }
    return .wrote(bits: -log2(probabilityOfWrite(within: last.time.duration(to: now.time))))
  }

  /// How probably the run writes something within this time, if its writes are independent.
  private func probabilityOfWrite(within time: Duration) -> Double {
    let expected = (pauses.busy + 0.5) * (time / (pauses.time + Self.prior))
    return 1 - exp(-max(expected, 1e-6))
  }

  /// Whether the run may have written a file of this size, which changed at that time; `nil` if that is
  /// not known.
  func mayHaveWritten(size: UInt64, changedAt time: FileTime, _ now: Look?) -> Bool? {
    if time < began { return false }
    guard let now else { return nil }
    // It may have been written little by little.
    let start = time.advanced(by: .zero - Self.longestWrite)
    let last = (looks.last { $0.time <= start } ?? first).activity
    return now.activity.isIncomplete
      || now.activity.writes.bytes >= last.writes.bytes + size
      || size >= Self.leastMapped && now.activity.dirtied >= last.dirtied + size
  }

  /// Notes when a path changed, about which evidence was asked for.
  mutating func note(changedAt time: FileTime) {
    lastChange = max(lastChange, time)
  }

  /// Whether the newest process has started since a change, or ever.
  private func isLaunching(_ now: Look, since time: FileTime?) -> Evidence? {
    let newest = now.activity.newestStart
    if let time, newest.advanced(by: Self.tick) < time { return nil }
    return now.time < newest.advanced(by: Self.launchTime) ? .launching : .launched
  }
}
