import FileObservation
import TestSupport

@testable import ActionRunning

// MARK: - Events

extension TaskGraphModel {
  mutating func begin() {
    advance { $0.start() }
  }

  mutating func step() {
    switch Int.random(in: 0..<70, using: &random) {
    case 0..<14: changeSome()
    case 14..<36: endOne(Int.random(in: 0..<4, using: &random) == 0 ? .failed : .succeeded)
    case 36..<50: serviceEvent()
    case 50..<56: judge()
    case 56..<59: elapse()
    case 59: advance { $0.keyPressed() }
    case 60:
      if Int.random(in: 0..<6, using: &random) == 0 { endAll() }
    case 61: leaveOne()
    case 62..<66 where !isCalm: disturb()
    case 66..<68: saveInBuilds()
    default: endOne(.succeeded)
    }
  }

  private mutating func disturb() {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: pause()
    case 1, 2: resume()
    case 3: stopAll()
    default: replace()
    }
  }

  private mutating func pause() {
    forgetSaid()
    advance { $0.pause() }
  }

  private mutating func resume() {
    advance { $0.resume() }
  }

  /// The user stops the runs. What is owed waits for the next run, without a request.
  private mutating func stopAll() {
    if !isEnding { hasStopped = true }
    forgetSaid()
    advance { $0.stop() }
    for rule in rules { change(rule.name) { ($0.due, $0.unjudged, $0.delayed) = ([], [:], []) } }
  }

  /// Some files change. Either that is judged at once, or later.
  private mutating func changeSome() {
    if isEnding { return }
    clock += 1
    let path = Path("f\(clock)")
    let running = Set(rules.map(\.name).filter { world($0).runs })
    for rule in rules where Int.random(in: 0..<3, using: &random) == 0 {
      // Changes during such a run are dropped before the ledger.
      if rule.policy == .ignore && !rule.isService && world(rule.name).runs { continue }
      change(rule.name) { world in
        world.owed.insert(path)
        world.unjudged[path] = running
      }
    }
    if Bool.random(using: &random) { judge() }
  }

  /// Some runs build, and a file changes. Those that it makes worthless are stopped at once, in the middle of the burst
  /// or though starts are delayed: the next ones are requested at the end of that.
  private mutating func saveInBuilds() {
    if isEnding { return }
    clock += 1
    let path = Path("f\(clock)")
    let names = rules.map(\.name)
    machine.setBuilding(Set(names.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }))
    var changed = Set(names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
    changed = changed.filter { isService($0) || rule($0).policy != .ignore || !world($0).runs }
    for name in changed {
      change(name) { ($0.owed, $0.delayed) = ($0.owed.union([path]), $0.delayed.union([path])) }
    }
    advance { [changed] in $0.changedWhileHeld(changed) }
  }

  /// All changes are judged: most of them lead to a run, and the others are settled.
  mutating func judge() {
    if isEnding { return }
    (isAsked, judgments) = (false, judgments + 1)
    var requested: Set<String> = []
    for rule in rules {
      if !world(rule.name).delayed.isEmpty { requested.insert(rule.name) }
      change(rule.name) { world in
        world.due.formUnion(world.delayed)
        world.delayed = []
      }
      for path in world(rule.name).unjudged.keys.sorted(by: { "\($0)" < "\($1)" }) {
        let isSettled = Int.random(in: 0..<4, using: &random) == 0
        change(rule.name) { world in
          world.unjudged[path] = nil
          if isSettled { world.owed.remove(path) } else { world.due.insert(path) }
        }
        if !isSettled { requested.insert(rule.name) }
      }
    }
    if !requested.isEmpty { advance { $0.changed(requested) } }
    advance { [names = Set(rules.map(\.name))] in $0.changesAreJudged(names) }
    advance { $0.proceed([]) }
  }

  /// Some run ends.
  private mutating func endOne(_ result: TaskStateMachine.Result) {
    let running = rules.map(\.name).filter { world($0).runs }
    guard let name = running.randomElement(using: &random) else { return }
    end(name, result)
  }

  private mutating func end(_ name: String, _ result: TaskStateMachine.Result) {
    guard world(name).runs, !isEnding else { return }
    let result = world(name).isStopping ? .cancelled : result
    clock += 1
    change(name) { [clock] world in
      (world.runs, world.isStopping, world.given) = (false, false, [])
      world.latest = result
      if result == .succeeded { world.succeeded = clock }
    }
    advance { $0.ended(name, result) }
  }

  private mutating func serviceEvent() {
    let services = rules.filter(\.isService).map(\.name)
    guard let name = services.randomElement(using: &random) else { return }
    let world = world(name)
    if world.hasFormer && Int.random(in: 0..<8, using: &random) == 0 {
      return advance { $0.formerHasEnded(name, .failed) }
    }
    if world.isLaunchPending { return launchService(name) }
    if world.isHooking { return rest(name) }
    guard world.isUp else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: endService(name)
    case 1:
      if let generation = world.generation {
        advance { $0.serviceIsLate(name, generation: generation) }
      }
    default: ready(name)
    }
  }

  /// The service ends by itself, with or without a hook.
  private mutating func endService(_ name: String) {
    change(name) { ($0.isUp, $0.isHooking) = (false, true) }
    let result: TaskStateMachine.Result = Bool.random(using: &random) ? .failed : .succeeded
    advance { $0.serviceEnded(name, result) }
    if Bool.random(using: &random) { rest(name) }
  }

  private mutating func rest(_ name: String) {
    guard world(name).isHooking else { return }
    change(name) { $0.isHooking = false }
    advance { $0.serviceIsAtRest(name) }
  }

  private mutating func ready(_ name: String) {
    guard let generation = world(name).generation else { return }
    advance { $0.serviceIsReady(name, generation: generation) }
  }

  /// Some pause is over, possibly that before a restart which is no longer due.
  private mutating func elapse() {
    guard let (name, generation) = backOffs.randomElement(using: &random) else { return }
    advance { $0.backOffIsOver(name, generation: generation) }
  }

  /// Some tasks are other than before. All that is owed is requested again.
  private mutating func replace() {
    if isEnding { return }
    let kept = rules.map(\.name).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
    forgetSaid()
    advance { [rules, jobs] in $0.replace(rules, jobs: jobs, keeping: Set(kept)) }
    let owing = rules.map(\.name).filter { !world($0).owed.isEmpty }
    for name in owing { change(name) { ($0.due, $0.unjudged, $0.delayed) = ($0.owed, [:], []) } }
    advance { $0.changed(Set(owing)) }
    // The rounds are new ones, and have asked nothing.
    judge()
  }

  private mutating func leaveOne() {
    guard let name = leaving.randomElement(using: &random)?.name else { return }
    if let last = leaving.lastIndex(where: { $0.name == name }) { leaving.remove(at: last) }
    advance { $0.isGone(name) }
  }

  private mutating func endAll() {
    isEnding = true
    advance { $0.end() }
  }
}

// MARK: - The end

extension TaskGraphModel {
  /// Lets everything come to a good end, until nothing is left to do.
  mutating func settle() {
    resume()
    run()
    if isEnding {
      if !isFinished { complain("an end without a finish") }
      return
    }
    if hasStopped {
      // A key delivers what was owed since.
      advance { $0.keyPressed() }
      run()
    }
    for rule in rules { checkEnd(of: rule) }
    if !machine.roundMembers.isEmpty { complain("a round without an end") }
  }

  private mutating func run() {
    // Each pass brings at least one task on.
    for _ in 0..<80 {
      while !leaving.isEmpty { leaveOne() }
      for rule in rules { isEnding ? finish(rule.name) : proceed(rule) }
      let isUnjudged = world.values.contains { !$0.unjudged.isEmpty || !$0.delayed.isEmpty }
      if isAsked || isUnjudged { judge() }
      let isRestless = machine.tasks.values.contains { task in
        task.isUnsettled || task.rules.isService && task.phase.isRestarted
      }
      if isEnding ? isFinished : !isRestless && !isAsked { break }
    }
  }

  private mutating func finish(_ name: String) {
    guard world(name).isStopping, !world(name).isEnded else { return }
    change(name) { $0.isEnded = true }
    advance { $0.isGone(name) }
  }

  private mutating func proceed(_ rule: TaskStateMachine.Rules) {
    let name = rule.name
    end(name, .succeeded)
    if world(name).isLaunchPending { launchService(name) }
    rest(name)
    ready(name)
    guard rule.isService else { return }
    for backOff in backOffs where backOff.name == name {
      advance { $0.backOffIsOver(name, generation: backOff.generation) }
    }
  }

  private mutating func checkEnd(of rule: TaskStateMachine.Rules) {
    guard let task = machine.tasks[rule.name] else { return complain("a task that is gone") }
    if task.isUnsettled { complain("a task that never settles") }
    if (task.former == .serving) != world(rule.name).hasFormer { complain("a former process") }
    if case .skipped = task.outcome { return }
    let isDeaf = rule.isService && rule.policy == .ignore
    if !isDeaf && !world(rule.name).owed.isEmpty { complain("a lost change") }
    let isWaiting = ancestors(rule.name).contains(where: machine.isDormant)
    if rule.isService || isWaiting || task.outcome != .succeeded { return }
    for above in rule.dependencies where !isService(above) {
      if world(above).succeeded ?? 0 > world(rule.name).began {
        complain("a run with an older result of a dependency")
      }
    }
  }
}
