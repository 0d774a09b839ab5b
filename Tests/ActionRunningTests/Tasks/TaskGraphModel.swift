import FileObservation
import TestSupport

@testable import ActionRunning

/// The machine of a random graph, and the simplest world around it: runs that exist or do not, and for
/// each task the paths that it is owed. Broken promises are complained of.
struct TaskGraphModel {
  struct World {
    var runs = false
    var isStopping = false
    /// Services: a process exists, or follows when the previous one is gone.
    var isUp = false
    var isLaunchPending = false
    /// The process before that runs beside it.
    var hasFormer = false
    /// It has ended by itself, and its hook has not.
    var isHooking = false
    /// Its restart was given up, and nothing has started it since.
    var hasGivenUp = false
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
    /// Those of them for which a run is requested later, though a build was stopped for them.
    var delayed: Set<Path> = []
    /// The paths that the present run has received.
    var given: Set<Path> = []
    /// Why it was last said to be skipped or kept.
    var saidBecause: String?
    var isEnded = false
  }

  let rules: [TaskStateMachine.Rules]
  let jobs: Int
  var above: [String: Set<String>] = [:]
  var machine: TaskStateMachine
  var complaints: [String] = []
  var starts = 0
  var rounds = 0
  var judgments = 0
  var random: SeededGenerator
  var world: [String: World] = [:]
  var actions = PendingActions<TaskStateMachine.Action>()
  /// Retired tasks that have not ended, and whether they run.
  var leaving: [(name: String, runs: Bool)] = []
  var backOffs: [(name: String, generation: Int)] = []
  var clock = 0
  var isAsked = false
  var isPaused = false
  var isEnding = false
  var isFinished = false
  var hasStopped = false
  /// Whether it is never paused, stopped or replaced, so that the strictest promises hold.
  let isCalm: Bool

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
      if rule.isService && Int.random(in: 0..<3, using: &random) == 0 {
        (rule.policy, rule.hasReadiness) = (.overlap, true)
        rule.isReadyAlone = Bool.random(using: &random)
      }
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

  func rule(_ name: String) -> TaskStateMachine.Rules {
    rules.first { $0.name == name } ?? TaskStateMachine.Rules(name)
  }

  func isService(_ name: String) -> Bool { rule(name).isService }

  func wasHeldBack(_ name: String) -> Bool { machine.tasks[name]?.wasHeldBack == true }

  func ancestors(_ name: String) -> Set<String> { above[name] ?? [] }

  func world(_ name: String) -> World { world[name] ?? World() }

  mutating func change(_ name: String, _ body: (inout World) -> Void) {
    body(&world[name, default: World()])
  }

  mutating func complain(_ text: String) {
    complaints.append(text)
  }
}

// MARK: - Actions of the machine

extension TaskGraphModel {
  /// Takes a step, and performs its actions after those of earlier steps.
  mutating func advance(
    _ step: (inout TaskStateMachine) -> [TaskStateMachine.Action]
  ) {
    machine.owedTasks = Set(rules.map(\.name).filter { !world($0).owed.isEmpty })
    machine.heldTasks = Set(rules.map(\.name).filter { !world($0).delayed.isEmpty })
    let more = step(&machine)
    for action in more { check(action) }
    guard actions.add(more) else { return }
    while let action = actions.next() { perform(action) }
    checkSuccesses()
  }

  /// Checks a decision with what is known when it is made.
  mutating func check(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason, _):
      if reason == .restart { return }
      for above in ancestors(name) where !isService(above) && world(above).latest != .succeeded {
        complain("a start after a failure")
      }
      if isService(name) { checkAncestors(ofService: name) }
    case .signal(let name, _, _):
      change(name) { $0.due = [] }
    case .skip(let name, let because), .keep(let name, let because):
      if because == name {
        if !world(name).hasFormer { complain("kept without a process") }
        return
      }
      if !ancestors(name).contains(because) { complain("skipped because of a stranger") }
      if machine.state(of: because) == .succeeded { complain("skipped because of a success") }
      if isCalm && world(name).saidBecause == because { complain("said twice in a round") }
      change(name) { $0.saidBecause = because }
    default: break
    }
  }

  /// A service is not restarted with results that are out of date, unless it was held back for that before.
  mutating func checkAncestors(ofService name: String) {
    if wasHeldBack(name) { return }
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
  mutating func checkSuccesses() {
    for rule in rules where !isEnding && machine.state(of: rule.name) == .succeeded {
      if !rule.isService && world(rule.name).latest != .succeeded {
        complain("a success that was none")
      }
      if rule.isService && rule.policy == .ignore || !isCalm { continue }
      if !world(rule.name).due.isEmpty { complain("a success that is out of date") }
    }
  }

  mutating func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let reason, _): start(name, reason)
    case .stop(let name): stop(name)
    case .signal(let name, _, _):
      if !world(name).runs && !world(name).isUp && !world(name).isLaunchPending {
        complain("a signal to nothing")
      }
      let given = world(name).given
      receive(name)
      change(name) { $0.given.formUnion(given) }
    case .reportRejection(let input, _): complain(input)
    case .skip, .keep, .reportLate, .killAll: break
    case .examine, .reportFresh: complain("no task may be fresh")
    case .judgeChanges:
      isAsked = true
      // Sometimes at once, and otherwise in a later step.
      if Int.random(in: 0..<3, using: &random) == 0 { judge() }
    case .awaitReadiness(let name, let generation):
      change(name) { $0.generation = generation }
    case .keepFormer(let name):
      if !world(name).isUp || world(name).hasFormer { complain("no process is left to serve") }
      change(name) { ($0.isUp, $0.hasFormer) = (false, true) }
    case .giveUpReadiness(let name):
      change(name) { $0.generation = nil }
    case .reportReady(let name):
      if !world(name).isUp { complain("ready without a process") }
    case .backOff(let name, let generation):
      if !machine.isBackingOff(name, generation) {
        // Another run has begun instead.
      } else if Int.random(in: 0..<4, using: &random) == 0 {
        advance { $0.backOffIsOver(name, generation: generation, isGivenUp: true) }
        change(name) { $0.hasGivenUp = true }
      } else {
        backOffs.append((name, generation))
      }
    case .endRound(let reached):
      rounds += 1
      if reached.isEmpty && isCalm { complain("an empty round") }
      if world.values.contains(where: \.runs) { complain("a round ended too early") }
      forgetSaid()
    case .end(let name):
      let isBelow = rules.contains { $0.dependencies.contains(name) && !world($0.name).isEnded }
      if isBelow { complain("ended before a dependent") }
      change(name) { ($0.runs, $0.isUp, $0.isStopping) = (false, false, true) }
    case .retire(let name) where world(name).hasFormer:
      change(name) { $0.hasFormer = false }
      leaving.append((name, false))
    case .retire(let name):
      leaving.append((name, world(name).runs))
      let owed = world(name).owed
      world[name] = World(owed: owed)
    case .finish:
      if isFinished || rules.contains(where: { !world($0.name).isEnded }) { complain("too early") }
      isFinished = true
    }
  }

  mutating func forgetSaid() {
    for rule in rules { change(rule.name) { $0.saidBecause = nil } }
  }

  mutating func stop(_ name: String) {
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

  mutating func start(_ name: String, _ reason: RunTrigger.Reason) {
    starts += 1
    if isEnding { complain("a start after the end") }
    if reason == .restart && world(name).hasGivenUp { complain("a restart that was given up") }
    change(name) { $0.hasGivenUp = false }
    if world(name).runs { complain("two runs at once") }
    if leaving.contains(where: { $0.name == name }) { complain("beside its predecessor") }
    for above in ancestors(name) {
      if world(above).runs { complain("before the end of an ancestor") }
      if machine.state(of: above) == .running && !wasHeldBack(name) {
        complain("beside an ancestor")
      }
    }
    // A service is started again for those as well.
    for below in rules where ancestors(below.name).contains(name) {
      if world(below.name).runs && !(isService(name) && reason == .restart) {
        complain("under a descendant that runs")
      }
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

  mutating func launchService(_ name: String, _ reason: RunTrigger.Reason = .change) {
    launch(name, reason)
    change(name) { world in
      (world.runs, world.isUp, world.isLaunchPending, world.isHooking) = (false, true, false, false)
    }
    advance { $0.serviceStarted(name) }
  }

  mutating func launch(_ name: String, _ reason: RunTrigger.Reason) {
    clock += 1
    change(name) { [clock] in ($0.runs, $0.began, $0.saidBecause) = (true, clock, nil) }
    if reason != .restart { receive(name) }
  }

  /// A run or a signal receives all that is owed.
  mutating func receive(_ name: String) {
    change(name) { world in
      world.given = world.owed
      (world.owed, world.due, world.unjudged, world.delayed) = ([], [], [:], [])
    }
  }
}
