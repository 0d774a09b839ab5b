import FileObservation
import Support
import TestSupport

@testable import ActionRunning
@testable import SystemCalls

/// Virtual processes, files and a person around `ActivityLog` and `ChangeJudge`. What the processes do moves
/// counters, looks read these as they read `/proc`, and evidence is what `ActivityLog` makes of them.
struct ProcessWorld {
  /// In microseconds.
  typealias Time = Int

  struct Process {
    var writes = ProcessActivity.Writes()
    var switches: UInt64 = 0
    var isRunning = false
    var open: Set<Path> = []
  }

  struct File {
    var content: Int
    var type = FileType.file
    var size = 10
    var modified: Time
    var changed: Time
    var born: Time
    var isBuilt = false
  }

  /// How a change is made.
  enum Means: CaseIterable {
    case overwrite, replace, empty, makeDirectory, link, moveInto
  }

  struct Save {
    let time: Time
    let path: Path
    let content: Int
    /// When the run was requested that receives it.
    var answered: Time?
  }

  static let second: Time = 1_000_000
  private static let quietPeriod: Time = 10_000

  let isLive: Bool
  /// How a run behaves, called with its number.
  var runBegan: (inout ProcessWorld, Int) -> Void = { _, _ in }
  /// How long a run lasts, `nil` for a server.
  var duration: Time?
  /// Whether `/proc` hides a process of the run.
  var isHidden = false
  /// How coarse the times of files are.
  var clockTick: Time = 4000
  /// How long a stop takes.
  var timeOfStop = 1000...30_000
  /// How long after a change it is reported.
  var timeOfReport = 20...1500
  var random: SeededGenerator
  private var timeline = VirtualTimeline<Self>()

  var files: [Path: File] = [:]
  var processes: [Int: Process] = [:]
  var processCount = 0
  var log = ActivityLog()
  var startCount: UInt64 = 0
  var isStarting = false
  var closeWatchEnd: Time?
  var isCloseWatchDue = false

  /// What has changed and is not reported yet, in order: the paths, and whether they existed.
  var hints: [Int: (path: Path, existed: Bool)] = [:]
  var hintCount = 0
  var burst: [Path: Bool] = [:]
  var burstOrder: [Path] = []
  var (burstFirst, burstLast, burstNumber) = (0, 0, 0)

  var judge: ChangeJudge
  var ledger = ChangeJudgeLedger()
  var run: (number: Int, isStopping: Bool)?
  var isRunPending = false
  var starts: [Time] = []
  var filesAtStart: [Path: Int] = [:]
  var saves: [Save] = []
  /// The paths that the run changes as well.
  var runPaths: Set<Path> = []
  /// Whether a process outside the tree writes because of a run.
  var hasDaemon = false
  /// Whether changes are reported long after they were made.
  var reportsLate = false
  /// Whether a writer of the runs writes at any time after their starts.
  var writesAtAnyTime = false
  var complaints: [String] = []
  /// What happens, if it is set.
  var trace: [String]?

  init(isLive: Bool, seed: UInt64) {
    self.isLive = isLive
    random = SeededGenerator(seed: seed)
    judge = ChangeJudge(hasInterruptibleService: isLive)
  }

  var now: Time { timeline.now }

  var instant: Instant { Instant(offset: .microseconds(now)) }

  func fileTime(_ time: Time) -> FileTime {
    // The clock of the world begins long after that of files.
    FileTime(nanoseconds: 1_000_000_000_000 + Int64(time) * 1000)
  }

  func coarse(_ time: Time) -> Time { time / clockTick * clockTick }

  mutating func note(_ text: @autoclosure () -> String) {
    let seconds = Double(now) / 1e6
    if trace != nil { trace?.append("\(seconds) \(text())") }
  }

  mutating func complain(_ text: String) {
    note("COMPLAINT \(text)")
    complaints.append("\(text) at \(Double(now) / 1e6) s")
  }

  mutating func pick(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

  // MARK: Time

  mutating func after(_ delay: Time, _ body: @escaping (inout ProcessWorld) -> Void) {
    timeline.add(after: delay, body)
  }

  /// - Parameter number: `nil` for what goes on also when this run has ended.
  mutating func after(
    _ delay: Time, inRun number: Int?, _ body: @escaping (inout ProcessWorld) -> Void
  ) {
    after(delay) { world in
      if number == nil || world.run?.number == number { body(&world) }
    }
  }

  mutating func advance(to time: Time) {
    while starts.count < 3000, let event = timeline.next(until: time) { event(&self) }
  }

  // MARK: Processes

  /// Adds a process to the tree of the run, and returns its number.
  mutating func fork() -> Int {
    processCount += 1
    processes[processCount] = Process()
    return processCount
  }

  /// A child ends, and its parent reaps it.
  mutating func reap(_ child: Int, by parent: Int) {
    guard let ended = processes.removeValue(forKey: child), processes[parent] != nil else { return }
    processes[parent]?.writes.bytes += ended.writes.bytes
    processes[parent]?.writes.dirtied += ended.writes.dirtied
    processes[parent]?.writes.childFaults += 90
    processes[parent]?.switches += 1
  }

  mutating func wake(_ process: Int) {
    processes[process]?.switches += 1
  }

  mutating func setOpen(_ path: Path, in process: Int) {
    processes[process]?.open.insert(path)
  }

  mutating func look(beginsBurst: Bool = false) {
    let cost = pick(40...600)
    let early = pick(0...cost)
    let number = startCount
    var activity: ProcessActivity?
    if !isHidden || processes.isEmpty {
      var sum = ProcessActivity()
      for (number, process) in processes {
        sum.writes.bytes += process.writes.bytes
        sum.writes.dirtied += process.writes.dirtied
        sum.writes.childFaults += process.writes.childFaults
        sum.writes.processes ^= UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        sum.switches += process.switches
        if process.isRunning { sum.isRunning = true }
      }
      activity = sum
    }
    activity?.writes.processes &+= number
    if isStarting {
      activity?.writes.processes &+= 1 << 63
      activity?.isRunning = true
    }
    log.add(
      activity, began: fileTime(now - early), ended: fileTime(now + cost - early),
      beginsBurst: beginsBurst)
  }

  mutating func lookOften() {
    guard !isCloseWatchDue, !processes.isEmpty, let end = closeWatchEnd else { return }
    isCloseWatchDue = true
    after(end - now > 51 * Self.second ? 10_000 : 40_000) { world in
      world.isCloseWatchDue = false
      guard let end = world.closeWatchEnd else { return }
      if end < world.now || !world.judge.suspectsRuns {
        world.closeWatchEnd = nil
      } else if !world.processes.isEmpty {
        world.look()
        if world.log.isBlind { world.closeWatchEnd = nil } else { world.lookOften() }
      }
    }
  }

  // MARK: Files

  /// Changes a path. The counters of a process move when its call returns, a moment later.
  ///
  /// - Parameters:
  ///   - process: Who changes it, `nil` for one outside the tree, whose activity is not seen.
  ///   - reportedAfter: How long after the change it is reported.
  mutating func change(
    _ path: Path, _ content: Int?, by process: Int?, _ means: Means = .overwrite,
    reportedAfter delay: Time? = nil
  ) {
    let existed = files[path] != nil
    let time = coarse(now)
    if let content {
      var file = files[path] ?? File(content: 0, modified: time, changed: time, born: time)
      if means == .replace { file.born = time }
      file.content = content
      if means == .moveInto {
        // It was written elsewhere, before.
        file.modified = time - 50_000
      } else {
        file.modified = time
      }
      file.changed = time
      file.size = means == .empty ? 0 : 10
      file.type = means == .makeDirectory ? .directory : means == .link ? .symlink : .file
      files[path] = file
    } else {
      files[path] = nil
    }
    note("\(path) = \(content ?? -1) by \(process.map { "process \($0)" } ?? "others")")
    if let process, processes[process] != nil {
      processes[process]?.isRunning = true
      // It has written what it moves into the tree as well.
      let isWritten = content != nil && [.overwrite, .replace, .moveInto].contains(means)
      after(pick(1...300)) { world in
        if isWritten { world.processes[process]?.writes.bytes += 10 }
        world.processes[process]?.switches += 1
        world.processes[process]?.isRunning = false
      }
    }
    hintCount += 1
    hints[hintCount] = (path, existed)
    after(delay ?? pick(timeOfReport)) { [hintCount] in $0.takeHint(hintCount) }
  }

  private mutating func takeHint(_ number: Int) {
    if let (path, existed) = hints.removeValue(forKey: number) { hint(path, existed: existed) }
  }

  /// Reports all changes so far.
  mutating func flush() {
    for number in hints.keys.sorted() { takeHint(number) }
    endBurst()
  }

  mutating func setProgram(_ path: Path) { files[path]?.isBuilt = true }

  /// A person saves.
  mutating func save(_ path: Path, _ content: Int, _ means: Means = .overwrite) {
    saves.append(Save(time: now, path: path, content: content))
    change(path, content, by: nil, means)
  }

  mutating func hint(_ path: Path, existed: Bool) {
    if burst.isEmpty {
      look(beginsBurst: true)
      burstFirst = now
      burstNumber += 1
      wakeObserver(burstNumber, after: Self.quietPeriod)
    }
    burstLast = now
    if burst[path] == nil {
      burst[path] = existed
      burstOrder.append(path)
    }
  }

  mutating func wakeObserver(_ number: Int, after delay: Time) {
    after(delay) { world in
      guard world.burstNumber == number, !world.burst.isEmpty else { return }
      let end = min(world.burstLast + Self.quietPeriod, world.burstFirst + Self.second)
      if world.now < end {
        world.wakeObserver(number, after: end - world.now)
      } else {
        world.endBurst()
      }
    }
  }

  mutating func endBurst() {
    var changes: [ChangeBatch.Change] = []
    for path in burstOrder {
      switch (burst[path] ?? false, files[path] != nil) {
      case (false, true): changes.append(.of(path, .created))
      case (true, false): changes.append(.of(path, .removed))
      case (true, true): changes.append(.of(path, .modified))
      case (false, false): break
      }
    }
    (burst, burstOrder) = ([:], [])
    if !changes.isEmpty { report(changes) }
  }

  // MARK: Evidence

  func subject(_ change: ChangeBatch.Change, isAlone: Bool) -> ActivityLog.Subject {
    let file = files[change.path]
    let status = file.flatMap { file in
      try? FileStatus(call: "stat", path: change.path) { status in
        status.mode =
          switch file.type {
          case .directory: 0o040755
          case .symlink: 0o120777
          default: 0o100644
          }
        status.size = UInt64(file.size)
        status.modified_ns = fileTime(file.modified).nanoseconds
        status.changed_ns = fileTime(file.changed).nanoseconds
        status.born_ns = fileTime(file.born).nanoseconds
        return 0
      }
    }
    return ActivityLog.Subject(
      isRemoval: change.kind == .removed || file == nil, status: status, isAlone: isAlone)
  }

  mutating func evidence(_ changes: [ChangeBatch.Change]) -> [Path: Verdict] {
    func result() -> [Path: Verdict] {
      var result: [Path: Verdict] = [:]
      for change in changes {
        result[change.path] = log.evidence(about: subject(change, isAlone: changes.count == 1))
      }
      return result
    }
    let early = result()
    if early.values.allSatisfy({ $0 == .others }) { return early }
    look()
    var late = result()
    for process in processes.values where !isHidden {
      for path in process.open where late[path].map({ $0 != .others }) ?? false {
        late[path] = .run
      }
    }
    return late
  }
}
