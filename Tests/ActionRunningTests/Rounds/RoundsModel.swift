import FileObservation
import Support
import TestSupport

@testable import ActionRunning

/// A virtual tree of files, an observer, a ledger, one command and a person around `Rounds`. The
/// model knows who changed what and when, which `Rounds` does not, and reports broken promises.
struct RoundsModel {
  /// In microseconds.
  typealias Time = Int

  struct Edit {
    let path: Path
    /// When a run must have begun at the latest, once the change has been judged.
    var deadline: Time?
  }

  struct Run {
    let start: Time
    let number: Int
    var isStopping = false
  }

  private struct Event {
    let time: Time
    let body: (inout RoundsModel) -> Void
  }

  static let second: Time = 1_000_000
  private static let quietPeriod: Time = 10_000
  private static let maximumWait = second
  private static let timeOfFlush: Time = 800
  /// How long a stop takes at most, and an answer.
  private static let slack: Time = 60_000
  /// How long a removal by an active run is held.
  private static let longestHold = 2_200_000
  /// A look at the processes finds writes that are further apart.
  private static let pauseBetweenLooks = 50_000
  /// How long the restart for a change that no process has made is delayed at most, as a test.
  private static let longestTestDelay = 250_000
  /// How long after a report changes may be part of it.
  private static let echoTime = 300_000

  let isLive: Bool
  let command: ModelCommand
  /// How long the command runs.
  let duration: Time
  var random: SeededGenerator
  private(set) var now: Time = 0
  private(set) var files: [Path: Int] = ["/p/a": 1, "/p/b": 3]
  private var events: [Event] = []
  private var rounds: Rounds

  // The processes.
  private var latestReport: Time = 0
  private var latestWrites: [Path: (time: Time, isByCommand: Bool)] = [:]
  private var commandWrites: [Time] = []

  // The observer, which notes what was there before the burst.
  private var burst: [Path: Bool] = [:]
  private var burstOrder: [Path] = []
  private var (burstFirst, burstLast, burstNumber) = (0, 0, 0)

  // The queue.
  private(set) var run: Run?
  private var hasPendingRun: Bool { isPendingFollowUp != nil }
  /// Whether the next run is a follow-up; `nil` if no run is pending.
  private var isPendingFollowUp: Bool?
  /// The reported paths whose changes no run has received.
  private var ledger = RoundsLedger()
  private(set) var starts: [Time] = []
  private var isBegunByFollowUp = false

  // The truth about rounds.
  private var unserved: [Edit] = []
  private var unreported: Set<Path> = []
  private var contentsAtStart: [Path: Int] = [:]
  /// Changed in the last round that ended, and by nobody since.
  private var comparable: Set<Path> = []
  private var directoriesBefore: Set<Path> = []
  private var (changed, directories): (Set<Path>, Set<Path>) = ([], [])
  /// Changed by somebody after that, while nothing ran.
  private var changedAtRest: Set<Path> = []
  private var unjudged: Set<Path> = []
  private var editedAtRest: Set<Path> = []
  /// In how many rounds in a row a path changed, or the entries of a directory.
  private var rows: [Path: Int] = [:]
  private var (depth, isEditedSinceStart) = (0, true)

  // The result.
  /// Edits and keys.
  private(set) var occasions = 0
  private(set) var superfluous = 0
  private(set) var complaints: [String] = []
  /// Called when a run begins.
  var runBegan: (inout RoundsModel) -> Void = { _ in }

  init(_ command: ModelCommand, isLive: Bool, duration: Time, seed: UInt64) {
    (self.command, self.isLive, self.duration) = (command, isLive, duration)
    random = SeededGenerator(seed: seed)
    rounds = Rounds(isLive: isLive)
  }

  private var instant: Instant { Instant(offset: .microseconds(now)) }

  private var facts: Rounds.Facts {
    var facts = Rounds.Facts(isOwed: ledger.owes) { [files] paths in
      paths.map { entry in
        files[entry.path].map { .file(ContentDigest(high: 0, low: UInt64($0)), attributes: 0) }
          ?? .absent
      }
    }
    facts.clues = { [self] changes in changes.map { clue(to: $0.path) } }
    return facts
  }

  /// What looks at the processes tell about the latest change of a path.
  private func clue(to path: Path) -> Clue {
    guard files[path] != nil, let (time, isByCommand) = latestWrites[path] else {
      return Clue(evidence: .unknownTime, mayBeOfRun: true)
    }
    var clue = Clue(evidence: .before, age: .microseconds(now - time))
    if time < run?.start ?? now { return clue }
    let others = commandWrites.filter { $0 != time || !isByCommand }
    let isQuietBefore = !others.contains { $0 > time - Self.pauseBetweenLooks && $0 <= time }
    // What a person saves is larger than what the command writes at once.
    clue.mayBeOfRun =
      isByCommand || others.count { $0 > time - Self.pauseBetweenLooks } > 1
    if isByCommand {
      clue.evidence = .wrote(bits: isQuietBefore ? 5 : 1)
    } else {
      let isQuiet = isQuietBefore && !others.contains { $0 > time }
      clue.evidence = isQuiet ? .innocent : .wrote(bits: 1)
    }
    return clue
  }

  private mutating func complain(_ text: String) {
    complaints.append("\(text) at \(Double(now) / Double(Self.second)) s")
  }

  // MARK: Time

  mutating func after(_ delay: Time, _ body: @escaping (inout RoundsModel) -> Void) {
    let event = Event(time: now + max(delay, 0), body: body)
    let index = events.lastIndex { $0.time > event.time }
    // The next event is the last one; those of one time stay in order.
    events.insert(event, at: index.map { $0 + 1 } ?? 0)
  }

  mutating func advance(to time: Time) {
    while let event = events.last, event.time <= time, starts.count < 2000 {
      events.removeLast()
      now = event.time
      event.body(&self)
    }
    now = time
  }

  // MARK: Files

  /// Gives a path this content, `nil` for none, and lets the observer see it.
  mutating func write(_ path: Path, _ content: Int?, isByCommand: Bool = true) {
    latestWrites[path] = (now, isByCommand)
    if isByCommand { commandWrites = commandWrites.suffix(20) + [now] }
    if burst.isEmpty {
      burstFirst = now
      burstNumber += 1
      wakeObserver(burstNumber, after: Self.quietPeriod)
    }
    burstLast = now
    if burst[path] == nil {
      burst[path] = files[path] != nil
      burstOrder.append(path)
    }
    files[path] = content
  }

  mutating func edit(_ path: Path, _ content: Int?) {
    occasions += 1
    isEditedSinceStart = true
    unserved.append(Edit(path: path))
    unreported.insert(path)
    write(path, content, isByCommand: false)
  }

  private mutating func wakeObserver(_ number: Int, after delay: Time) {
    after(delay) { model in
      guard model.burstNumber == number, !model.burst.isEmpty else { return }
      let end = min(model.burstLast + Self.quietPeriod, model.burstFirst + Self.maximumWait)
      if model.now < end {
        model.wakeObserver(number, after: end - model.now)
      } else {
        model.endBurst()
      }
    }
  }

  private mutating func endBurst() {
    var changes: [ChangeBatch.Change] = []
    for path in burstOrder {
      switch (burst[path] ?? false, files[path] != nil) {
      case (false, true): changes.append(.of(path, .created))
      case (true, false): changes.append(.of(path, .removed))
      case (true, true): changes.append(.of(path, .modified))
      case (false, false):
        // The observer reports nothing.
        unserved.removeAll { $0.path == path }
        unreported.remove(path)
      }
    }
    (burst, burstOrder) = ([:], [])
    if !changes.isEmpty { report(changes) }
  }
}

// MARK: - The queue

extension RoundsModel {
  private mutating func report(_ changes: [ChangeBatch.Change]) {
    ledger.add(changes)
    guard !rounds.isReading, run == nil || isLive else {
      note(changes)
      return submit(changes, .running)
    }
    var situation = Rounds.Situation.idle
    if let run { situation = run.isStopping ? .running : .live }
    let innocent = changes.filter { change in
      situation == .idle
        || situation == .live && clue(to: change.path).evidence == .innocent
          && !isExempt(change.path)
    }
    if !innocent.isEmpty { noteAtRest(innocent) }
    note(changes.filter { !innocent.contains($0) })
    if situation == .live { judge(after: Self.longestHold) }
    submit(changes, situation)
  }

  private mutating func submit(
    _ changes: [ChangeBatch.Change], _ situation: Rounds.Situation
  ) {
    perform(
      rounds.changed(changes, situation, at: instant, facts))
  }

  private mutating func perform(_ actions: [Rounds.Action]) {
    for action in actions {
      switch action {
      case .run(let paths):
        if !paths.allSatisfy(ledger.owes) { complain("a run is requested for nothing") }
        request(isFollowUp: true)
      case .forgive(let paths), .absorb(let paths): ledger.forgive(paths)
      case .read(let generation):
        after(Self.timeOfFlush) { model in
          model.endBurst()
          guard model.rounds.isReading else { return }
          model.judge()
          model.latestReport = model.now
          model.perform(
            model.rounds.hasRead(
              generation: generation, at: model.instant, model.facts))
        }
      case .wait(let due, let generation):
        let time = Int(due.offset / .microseconds(1))
        after(time - now) { $0.perform($0.rounds.elapsed(generation: generation)) }
      case .announce, .announceOutputs, .explain: break
      }
    }
  }

  private mutating func request(isFollowUp: Bool) {
    guard let run else { return begin(isFollowUp: isFollowUp) }
    if !isLive && isFollowUp { complain("a change interrupts a run") }
    isPendingFollowUp = isFollowUp
    guard isLive, !run.isStopping else { return }
    self.run?.isStopping = true
    after(.random(in: 1000...30_000, using: &random)) { $0.end(run.number) }
  }

  mutating func pressKey() {
    occasions += 1
    isEditedSinceStart = true
    (isBegunByFollowUp, depth) = (false, 0)
    request(isFollowUp: false)
  }

  mutating func begin(isFollowUp: Bool) {
    if run != nil { complain("two runs overlap") }
    rounds.began(isFollowUp: isFollowUp, at: instant, facts)
    beginRound(receiving: ledger.removeAll())
    starts.append(now)
    let number = starts.count
    run = Run(start: now, number: number)
    command.begin(&self, number)
    runBegan(&self)
    if isLive && command.isServer { return }
    after(duration) { $0.end(number) }
  }

  private mutating func end(_ number: Int) {
    guard run?.number == number else { return }
    run = nil
    if let isFollowUp = isPendingFollowUp {
      isPendingFollowUp = nil
      begin(isFollowUp: isFollowUp)
    } else {
      perform(rounds.workEnded())
    }
  }
}

// MARK: - The truth

extension RoundsModel {
  private mutating func note(_ changes: [ChangeBatch.Change]) {
    for change in changes {
      changed.insert(change.path)
      unjudged.insert(change.path)
      if change.kind != .modified { directories.insert(change.path.directory) }
    }
  }

  private mutating func noteAtRest(_ changes: [ChangeBatch.Change]) {
    for change in changes {
      editedAtRest.formUnion([change.path, change.path.directory])
      changedAtRest.insert(change.path)
      let mayBeEcho = now < latestReport + Self.echoTime && rows[change.path] != nil
      let delay =
        mayBeEcho ? longestDelay(of: change.path) : run == nil ? 0 : Self.longestTestDelay
      setDeadline(now + delay, of: change.path)
    }
    (isBegunByFollowUp, depth) = (false, 0)
  }

  private mutating func setDeadline(_ time: Time, of path: Path) {
    for index in unserved.indices where unserved[index].path == path {
      unserved[index].deadline = min(unserved[index].deadline ?? .max, time)
    }
  }

  /// What was reported and is judged now is exempt, or must be followed by a run in time.
  private mutating func judge(after hold: Time = 0) {
    for path in unjudged {
      if isExempt(path) {
        unserved.removeAll { $0.path == path }
        unreported.remove(path)
      } else {
        setDeadline(now + hold + longestDelay(of: path), of: path)
      }
    }
    unjudged = []
    isBegunByFollowUp = true
  }

  /// The exception to the promise: the run began with that, and the round before changed it as well.
  private func isExempt(_ path: Path) -> Bool {
    guard files[path] == contentsAtStart[path] else { return false }
    return comparable.contains(path) && !changedAtRest.contains(path)
      || files[path] == nil && directoriesBefore.contains(path.directory)
  }

  private func longestDelay(of path: Path) -> Time {
    let row = max(
      rows[path] ?? 0, directories.contains(path.directory) ? rows[path.directory] ?? 0 : 0)
    let isEdited = editedAtRest.contains(path)
    return max(
      RoundsRules.delay(inRow: row, isLive: isLive, isEdited: isEdited),
      RoundsRules.delay(atDepth: depth, isLive: isLive)) * Self.second
  }

  private mutating func beginRound(receiving paths: [Path]) {
    if !isEditedSinceStart && !starts.isEmpty { superfluous += 1 }
    isEditedSinceStart = false
    for edit in unserved {
      if let deadline = edit.deadline, now > deadline + Self.slack {
        complain("the run after an edit of \(edit.path) is late")
      }
    }
    unserved = []
    unreported.subtract(paths)
    let keys = changed.union(directories)
    rows = Dictionary(uniqueKeysWithValues: keys.map { ($0, (rows[$0] ?? 0) + 1) })
    (comparable, directoriesBefore) = (changed.subtracting(changedAtRest), directories)
    (changed, directories, unjudged, changedAtRest) = ([], [], [], [])
    contentsAtStart = files
    depth = isBegunByFollowUp ? depth + 1 : 0
  }

  /// Complains of edits that no run has followed, and of paths that are owed to a run although none
  /// is due.
  mutating func settle() {
    for edit in unserved { complain("no run followed an edit of \(edit.path)") }
    for path in unreported { complain("no run received \(path)") }
    if hasPendingRun { return }
    let awaited = rounds.unjudged + (rounds.followUp?.paths ?? [])
    for path in ledger.paths where !awaited.contains(path) {
      complain("\(path) is owed, but no run is due")
    }
    let isAtRest = run == nil && !rounds.isReading && !rounds.owesRun
    if isAtRest && !ledger.paths.isEmpty { complain("paths are owed at rest") }
  }
}
