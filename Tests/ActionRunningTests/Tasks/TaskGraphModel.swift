import FileObservation
import TestSupport

@testable import ActionRunning

/// The machine of a random graph, and the simplest world around it: runs that exist or do not, and for
/// each task the paths that it is owed. Broken promises are complained of.
struct TaskGraphModel {
  private struct World {
    var runs = false
    var isStopping = false
    /// Services: a process exists, or follows when the previous one is gone.
    var isUp = false
    var isLaunchPending = false
    /// It has ended by itself, and its hook has not.
    var isHooking = false
    /// The generation of the readiness check.
    var generation: Int?
    var latest: TaskStateMachine.Result?
    /// The times of the latest start, and of the latest success.
    var began = 0
    var succeeded: Int?
    /// The paths that no run has received.
    var owed: Set<Path> = []
    /// Those of them for which a run was requested.
    var due: Set<Path> = []
    /// Those of them that are not judged, with the tasks that ran when they changed.
    var unjudged: [Path: Set<String>] = [:]
    /// The paths that the present run has received.
    var given: Set<Path> = []
    /// Why it was last said to be skipped or kept.
    var saidBecause: String?
    var isEnded = false
  }

  let rules: [TaskStateMachine.Rules]
  let jobs: Int
  private var above: [String: Set<String>] = [:]
  private(set) var machine: TaskStateMachine
  private(set) var complaints: [String] = []
  private(set) var starts = 0
  private(set) var rounds = 0
  private(set) var judgments = 0
  private var random: SeededGenerator
  private var world: [String: World] = [:]
  private var actions = PendingActions<TaskStateMachine.Action>()
  /// Retired tasks that have not ended, and whether they run.
  private var leaving: [(name: String, runs: Bool)] = []
  private var backOffs: [(name: String, generation: Int)] = []
  private var clock = 0
  private var isAsked = false
  private var isPaused = false
  private var isEnding = false
  private var isFinished = false
  private var hasStopped = false
  /// Whether it is never paused, stopped or replaced, so that the strictest promises hold.
  private let isCalm: Bool

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    jobs = Int.random(in: 1...3, using: &random)
    isCalm = Bool.random(using: &random)
    var rules: [TaskStateMachine.Rules] = []
    for number in 0..<Int.random(in: 1...6, using: &random) {
      let above = rules.map(\.name).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      var rule = TaskStateMachine.Rules("t\(number)", dependencies: above)
      let policies: [BusyPolicy?] = [
        nil, nil, .queue, .restart, .restart, .ignore, .signal(.hangup),
      ]
      rule.policy = policies.randomElement(using: &random) ?? nil
      rule.isService = Int.random(in: 0..<3, using: &random) == 0
      rule.hasReadiness = rule.isService && Int.random(in: 0..<3, using: &random) > 0
      rule.keepsAlive = Int.random(in: 0..<8, using: &random) < (rule.isService ? 6 : 1)
      // A service that may end by itself has no dependents, and so no check.
      if rule.isService && !rule.keepsAlive { rule.hasReadiness = false }
      rule.isPostponed = Int.random(in: 0..<8, using: &random) == 0
      rules.append(rule)
    }
    self.rules = rules
    self.random = random
    machine = TaskStateMachine(rules, jobs: jobs)
    for rule in rules {
      world[rule.name] = World()
      above[rule.name] = rule.dependencies.reduce(into: Set(rule.dependencies)) {
        $0.formUnion(above[$1] ?? [])
      }
    }
  }

  private func rule(_ name: String) -> TaskStateMachine.Rules {
    rules.first { $0.name == name } ?? TaskStateMachine.Rules(name)
  }

  private func isService(_ name: String) -> Bool { rule(name).isService }

  private func ancestors(_ name: String) -> Set<String> { above[name] ?? [] }

  private func world(_ name: String) -> World { world[name] ?? World() }

  private mutating func change(_ name: String, _ body: (inout World) -> Void) {
    body(&world[name, default: World()])
  }

  private mutating func complain(_ text: String) {
    complaints.append(text)
  }
}

// MARK: - Actions of the machine

extension TaskGraphModel {
  /// Takes a step, and performs its actions after those of earlier steps.
  private mutating func advance(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    machine.unjudged = Set(rules.map(\.name).filter { !world($0).owed.isEmpty })
    let more = step(&machine)
    for action in more { check(action) }
    guard actions.add(more) else { return }
    while let action = actions.next() { perform(action) }
    checkSuccesses()
  }

  /// Checks a decision with what is known when it is made.
  private mutating func check(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason):
      if reason == .restart { return }
      for above in ancestors(name) where !isService(above) && world(above).latest != .succeeded {
        complain("a start after a failure")
      }
      if isService(name) { checkAncestors(ofService: name) }
    case .signal(let name, _, _):
      change(name) { $0.due = [] }
    case .skip(let name, let because), .keep(let name, let because):
      if !ancestors(name).contains(because) { complain("skipped because of a stranger") }
      if machine.state(of: because) == .succeeded { complain("skipped because of a success") }
      if isCalm && world(name).saidBecause == because { complain("said twice in a round") }
      change(name) { $0.saidBecause = because }
    default: break
    }
  }

  /// A service is not restarted with results that are out of date.
  private mutating func checkAncestors(ofService name: String) {
    for above in ancestors(name) where isCalm {
      // A service that ignores changes is not restarted by its own.
      let isDeaf = isService(above) && rule(above).policy == .ignore
      if !isDeaf && !world(above).due.isEmpty { complain("a service before a run that is due") }
      let ran = world(above).unjudged.values
      if ran.contains(where: { !$0.isDisjoint(with: ancestors(name)) }) {
        complain("a service before its ancestors' changes were judged")
      }
    }
  }

  /// A success is never out of date.
  private mutating func checkSuccesses() {
    for rule in rules where !isEnding && machine.state(of: rule.name) == .succeeded {
      if !rule.isService && world(rule.name).latest != .succeeded {
        complain("a success that was none")
      }
      if rule.isService && rule.policy == .ignore || !isCalm { continue }
      if !world(rule.name).due.isEmpty { complain("a success that is out of date") }
    }
  }

  private mutating func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason): start(name, reason)
    case .stop(let name): stop(name)
    case .signal(let name, _, _):
      if !world(name).runs && !world(name).isUp && !world(name).isLaunchPending {
        complain("a signal to nothing")
      }
      let given = world(name).given
      receive(name)
      change(name) { $0.given.formUnion(given) }
    case .skip, .keep, .reportLate, .killAll: break
    case .judgeChanges:
      isAsked = true
      // Sometimes at once, and otherwise in a later step.
      if Int.random(in: 0..<3, using: &random) == 0 { judge() }
    case .awaitReadiness(let name, let generation):
      change(name) { $0.generation = generation }
    case .giveUpReadiness(let name):
      change(name) { $0.generation = nil }
    case .reportReady(let name):
      if !world(name).isUp { complain("ready without a process") }
    case .backOff(let name, let generation):
      backOffs.append((name, generation))
    case .endRound(let reached):
      rounds += 1
      if reached.isEmpty { complain("an empty round") }
      if world.values.contains(where: \.runs) { complain("a round ended too early") }
      forgetSaid()
    case .end(let name):
      let isBelow = rules.contains { $0.dependencies.contains(name) && !world($0.name).isEnded }
      if isBelow { complain("ended before a dependent") }
      change(name) { ($0.runs, $0.isUp, $0.isStopping) = (false, false, true) }
    case .retire(let name):
      leaving.append((name, world(name).runs))
      let owed = world(name).owed
      world[name] = World(owed: owed)
    case .finish:
      if isFinished || rules.contains(where: { !world($0.name).isEnded }) { complain("too early") }
      isFinished = true
    }
  }

  private mutating func forgetSaid() {
    for rule in rules { change(rule.name) { $0.saidBecause = nil } }
  }

  private mutating func stop(_ name: String) {
    if isService(name) {
      change(name) { world in
        (world.isUp, world.isLaunchPending, world.isHooking) = (false, false, false)
        world.generation = nil
      }
      return
    }
    if !world(name).runs || world(name).isStopping { complain("a stop of nothing") }
    // A run that is stopped has not made use of its changes.
    change(name) { world in
      world.isStopping = true
      world.owed.formUnion(world.given)
      world.due.formUnion(world.given)
      world.given = []
    }
  }

  private mutating func start(_ name: String, _ reason: RunTrigger.Reason) {
    starts += 1
    if isEnding { complain("a start after the end") }
    if world(name).runs { complain("two runs at once") }
    if leaving.contains(where: { $0.name == name }) { complain("beside its predecessor") }
    for above in ancestors(name) {
      if world(above).runs { complain("before the end of an ancestor") }
      if machine.state(of: above) == .running { complain("beside an ancestor") }
    }
    for below in rules where ancestors(below.name).contains(name) {
      if world(below.name).runs { complain("under a descendant that runs") }
    }
    if !isService(name) {
      launch(name, reason)
    } else if Bool.random(using: &random) {
      launchService(name, reason)
    } else {
      // The former process is stopped first.
      change(name) { ($0.isUp, $0.isLaunchPending, $0.isHooking) = (false, true, false) }
    }
    let running = world.values.count(where: \.runs) + leaving.count { $0.runs }
    if running > jobs { complain("more runs than jobs") }
  }

  private mutating func launchService(_ name: String, _ reason: RunTrigger.Reason = .change) {
    launch(name, reason)
    change(name) { world in
      (world.runs, world.isUp, world.isLaunchPending, world.isHooking) = (false, true, false, false)
    }
    advance { $0.serviceStarted(name) }
  }

  private mutating func launch(_ name: String, _ reason: RunTrigger.Reason) {
    clock += 1
    change(name) { [clock] in ($0.runs, $0.began, $0.saidBecause) = (true, clock, nil) }
    if reason != .restart { receive(name) }
  }

  /// A run or a signal receives all that is owed.
  private mutating func receive(_ name: String) {
    change(name) { world in
      world.given = world.owed
      (world.owed, world.due, world.unjudged) = ([], [], [:])
    }
  }
}

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
    for rule in rules { change(rule.name) { ($0.due, $0.unjudged) = ([], [:]) } }
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

  /// All changes are judged: most of them lead to a run, and the others are forgiven.
  private mutating func judge() {
    if isEnding { return }
    (isAsked, judgments) = (false, judgments + 1)
    var requested: Set<String> = []
    for rule in rules {
      for path in world(rule.name).unjudged.keys.sorted(by: { "\($0)" < "\($1)" }) {
        let isForgiven = Int.random(in: 0..<4, using: &random) == 0
        change(rule.name) { world in
          world.unjudged[path] = nil
          if isForgiven { world.owed.remove(path) } else { world.due.insert(path) }
        }
        if !isForgiven { requested.insert(rule.name) }
      }
    }
    if !requested.isEmpty { advance { $0.changed(requested) } }
    advance { [names = Set(rules.map(\.name))] in $0.changesAreJudged(names) }
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
    for name in owing { change(name) { ($0.due, $0.unjudged) = ($0.owed, [:]) } }
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
      let isUnjudged = world.values.contains { !$0.unjudged.isEmpty }
      if isAsked || isUnjudged { judge() }
      let isRestless = machine.tasks.values.contains { task in
        let isRestarted = task.restart != .none || task.service == .crashed
        return task.isUnsettled || task.rules.isService && isRestarted
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
