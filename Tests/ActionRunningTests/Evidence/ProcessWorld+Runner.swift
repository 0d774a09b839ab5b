import FileObservation
import Support

@testable import ActionRunning

// MARK: - The runner

extension ProcessWorld {
  func knowledge(_ paths: [(path: Path, isMovedAsWhole: Bool)]) -> ChangeJudge.Knowledge {
    var knowledge = ChangeJudge.Knowledge()
    for (path, _) in paths {
      let content = files[path].map { file -> PathContent in
        switch file.type {
        case .directory: .directory
        case .symlink: .link(Path("\(file.content)"))
        default: .file(ContentDigest(high: 0, low: UInt64(file.content)), attributes: 0)
        }
      }
      knowledge.files[path] = FileState(
        content: content ?? .absent, born: files[path].map { fileTime($0.born) },
        modified: files[path].map { fileTime($0.modified) },
        isBuilt: files[path]?.isBuilt ?? false)
    }
    knowledge.owed = Set((paths.map(\.path) + judge.delayedPaths).filter(ledger.owes))
    return knowledge
  }

  /// Whether only people change the path, which differs from what the run began with.
  func isPersonal(_ path: Path) -> Bool {
    !runPaths.contains(path) && saves.contains { $0.path == path }
  }

  func isUnserved(_ path: Path) -> Bool {
    saves.contains { $0.path == path } && files[path]?.content != filesAtStart[path]
  }

  mutating func report(_ changes: [ChangeBatch.Change]) {
    ledger.add(changes)
    let evidence = evidence(changes)
    let situation: ChangeJudge.Situation =
      run.map { isLive ? ($0.isStopping ? .stopping : .interruptible) : .running } ?? .idle
    note("batch \(changes.map(\.path)) \(Array(evidence.values)) \(situation)")
    let mayHaveEchoes = situation == .idle && judge.mayHaveEchoes(evidence, at: instant)
    let isJudged = (situation.judgesAtOnce || mayHaveEchoes) && !judge.isFlushing
    perform(
      judge.changed(
        changes, evidence, situation, at: instant,
        knowledge(isJudged ? judge.pathsToRead(changes) : [])))
    if isLive && judge.suspectsRuns {
      closeWatchEnd = now + 9 * Self.second
      lookOften()
    }
  }

  mutating func perform(_ actions: [ChangeJudge.Action]) {
    for action in actions {
      if case .explain = action {} else { note("\(action)") }
      switch action {
      case .run: requestRun()
      case .settle(let paths):
        ledger.settle(paths)
        for path in paths where isUnserved(path) { complain("\(path) is settled, but unserved") }
      case .setAside(let paths), .leave(let paths):
        ledger.setAside(paths)
        for path in paths where isPersonal(path) { complain("\(path) of a person is set aside") }
      case .announceOutputs(let paths):
        for path in paths where isPersonal(path) { complain("\(path) of a person is an output") }
      case .announce(let loop):
        let paths = loop.entries.isEmpty ? [loop.path] : loop.entries
        // Beside processes that are hidden, nothing is proved.
        if !isHidden && !loop.isEdited && paths.allSatisfy(isPersonal) {
          complain("\(loop.path) is blamed")
        }
      case .flush(let generation):
        after(800) { $0.hasFlushed(generation) }
      case .wait(let due, let generation):
        after(Int(due.offset / .microseconds(1)) - now) {
          $0.perform($0.judge.elapsed(generation: generation))
        }
      case .explain, .announceOwed, .stopBuilds, .tested, .judged: break
      }
    }
  }

  mutating func hasFlushed(_ generation: Int) {
    flush()
    guard judge.isFlushing else { return }
    perform(judge.hasFlushed(generation: generation, at: instant, knowledge(judge.pathsToRead())))
  }

  func isReceived(_ save: Save) -> Bool { ledger.owes(save.path) }

  mutating func requestRun() {
    guard let run else { return begin() }
    isRunPending = true
    guard isLive, !run.isStopping else { return }
    for index in saves.indices where saves[index].answered == nil && isReceived(saves[index]) {
      saves[index].answered = now
    }
    beginRound()
    self.run?.isStopping = true
    after(pick(timeOfStop)) { $0.end(run.number) }
  }

  mutating func begin() {
    beginRound()
    start()
  }

  private mutating func beginRound() {
    judge.began(at: instant, files: fileTime(coarse(now)))
  }

  private mutating func start() {
    _ = ledger.removeAll()
    judge.launched(
      at: instant, files: fileTime(coarse(now)), knowledge(judge.pathsToReadAtStart))
    filesAtStart = files.mapValues(\.content)
    for index in saves.indices where saves[index].answered == nil { saves[index].answered = now }
    starts.append(now)
    let number = starts.count
    note("run \(number)")
    look()
    (isStarting, startCount) = (true, startCount + 1)
    run = (number, false)
    _ = fork()
    after(pick(200...3000)) { world in
      world.isStarting = false
      world.look()
      world.lookOften()
    }
    runBegan(&self, number)
    if let duration { after(duration) { $0.end(number) } }
  }

  mutating func end(_ number: Int) {
    guard run?.number == number else { return }
    run = nil
    processes = [:]
    look()
    note("run \(number) ends")
    if isRunPending {
      isRunPending = false
      start()
    } else {
      perform(judge.workEnded())
    }
  }

  /// Complains of what a person saved and no run has received, unless it visibly waits.
  mutating func settle() {
    let awaited = Set(judge.unjudged + (judge.followUp?.paths ?? [])).union(ledger.aside)
    for path in Set(saves.map(\.path)) where isUnserved(path) && !isRunPending {
      if !ledger.owes(path) || !awaited.contains(path) { complain("a save of \(path) is lost") }
    }
  }

  /// The process that a run consists of at first.
  var leader: Int { processes.keys.min() ?? 0 }

  /// The most runs that begin within so many seconds, from a time on.
  func mostRuns(within seconds: Int, from time: Time) -> Int {
    let starts = starts.filter { $0 >= time }
    return starts.map { start in
      starts.count { $0 >= start && $0 < start + seconds * Self.second }
    }.max() ?? 0
  }
}
