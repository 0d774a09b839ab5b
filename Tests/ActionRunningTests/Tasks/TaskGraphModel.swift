import FileObservation
import TestSupport

@testable import ActionRunning

/// The machine of a random graph, and the simplest world around it: runs that are there or are not,
/// and for each task the newest change and the newest one that each success has seen. What breaks a
/// promise is complained of.
struct TaskGraphModel {
  private struct World {
    /// The changes of the current run; nil if nothing runs.
    var run: Int?
    var isStopping = false
    /// Services: a process is there.
    var isUp = false
    var generation: Int?
    /// The number of the newest change to the task itself.
    var changed = 0
    /// The newest change, to it or a dependency, that its latest success has seen.
    var succeeded: Int?
    var latest: TaskStateMachine.Result?
    /// Paths that no finished run has received.
    var paths: Set<Path> = []
    /// Paths that the current run received.
    var given: Set<Path> = []
    var isEnded = false
  }

  let rules: [TaskStateMachine.Rules]
  let jobs: Int
  private var above: [String: Set<String>] = [:]
  private(set) var machine: TaskStateMachine
  private(set) var complaints: [String] = []
  private(set) var starts = 0
  private(set) var rounds = 0
  private var random: SeededGenerator
  private var world: [String: World] = [:]
  /// Retired tasks that have not ended, and whether they run.
  private var leaving: [(name: String, runs: Bool)] = []
  private var clock = 0
  private var isEnding = false
  private var isFinished = false
  private var hasStopped = false
  /// True from the first pause or stop on: then changes wait for another occasion.
  private var isLoose = false

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    jobs = Int.random(in: 1...3, using: &random)
    var rules: [TaskStateMachine.Rules] = []
    for number in 0..<Int.random(in: 1...6, using: &random) {
      let above = rules.map(\.name).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      var rule = TaskStateMachine.Rules("t\(number)", dependencies: above)
      let policies: [BusyPolicy] = [.queue, .queue, .restart, .restart, .ignore, .signal(.hangup)]
      rule.policy = policies.randomElement(using: &random) ?? .queue
      rule.runsOn = Int.random(in: 0..<4, using: &random) == 0
      rule.hasReadiness = rule.runsOn
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

  private func ancestors(_ name: String) -> Set<String> { above[name] ?? [] }

  private func world(_ name: String) -> World { world[name] ?? World() }

  private mutating func change(_ name: String, _ body: (inout World) -> Void) {
    body(&world[name, default: World()])
  }

  private mutating func complain(_ text: String) {
    complaints.append(text)
  }
}

// MARK: - What the machine does

extension TaskGraphModel {
  private mutating func perform(_ actions: [TaskStateMachine.Action]) {
    for action in actions { perform(action) }
    for rule in rules where !isEnding {
      let world = world(rule.name)
      // A success is never stale, neither by the task's own changes nor by its dependencies'.
      guard machine.state(of: rule.name) == .succeeded,
        rule.policy == .queue || rule.policy == .restart
      else { continue }
      if !rule.runsOn && world.latest != .succeeded { complain("a success that was none") }
      let isForgotten = machine.tasks[rule.name]?.unseen != nil
      if !rule.runsOn, !isForgotten, world.succeeded != world.changed, !isLoose {
        complain("a stale success")
      }
    }
  }

  private mutating func perform(_ action: TaskStateMachine.Action) {
    switch action {
    case .start(let name, let trigger): start(name, trigger)
    case .stop(let name):
      if rule(name).runsOn {
        change(name) { ($0.isUp, $0.generation) = (false, nil) }
      } else {
        if world(name).run == nil || world(name).isStopping { complain("a stop of nothing") }
        // Its changes remain unprocessed.
        change(name) { world in
          world.isStopping = true
          world.paths.formUnion(world.given)
        }
      }
    case .signal(let name, _, let trigger):
      if world(name).run == nil && !world(name).isUp { complain("a signal to nothing") }
      tell(name, trigger)
      change(name) { $0.succeeded = $0.changed }
    case .skip(let name, let because), .keep(let name, let because):
      if !ancestors(name).contains(because) { complain("skipped because of a stranger") }
      if machine.state(of: because) == .succeeded { complain("skipped because of a success") }
    case .awaitReadiness(let name, let generation):
      change(name) { $0.generation = generation }
    case .giveUpReadiness(let name):
      change(name) { $0.generation = nil }
    case .reportReady(let name):
      if !world(name).isUp { complain("ready, and not there") }
    case .reportLate: break
    case .endRound(let reached):
      rounds += 1
      if reached.isEmpty { complain("an empty round") }
      if rules.contains(where: { world($0.name).run != nil }) {
        complain("a round ended too early")
      }
    case .end(let name):
      let isBelow = rules.contains { $0.dependencies.contains(name) && !world($0.name).isEnded }
      if isBelow { complain("ended before what stands after it") }
      change(name) { ($0.run, $0.isUp, $0.isStopping) = (nil, false, true) }
    case .retire(let name):
      leaving.append((name, world(name).run != nil))
      world[name] = World()
    case .killAll: break
    case .finish:
      if isFinished || rules.contains(where: { !world($0.name).isEnded }) { complain("too early") }
      isFinished = true
    }
  }

  private mutating func start(_ name: String, _ trigger: RunTrigger) {
    starts += 1
    if isEnding { complain("a start after the end") }
    if world(name).run != nil { complain("twice at once") }
    if leaving.contains(where: { $0.name == name }) { complain("beside the one before it") }
    for above in ancestors(name) {
      if world(above).run != nil { complain("before what it stands after has ended") }
      if machine.state(of: above) == .running { complain("beside what it stands after") }
      if !rule(above).runsOn && world(above).latest != .succeeded { complain("after a failure") }
      let isExact = rule(above).policy == .queue || rule(above).policy == .restart
      if isExact, !isLoose, !rule(above).runsOn, world(above).succeeded != world(above).changed {
        complain("before the newest")
      }
    }
    for below in rules where ancestors(below.name).contains(name) {
      if world(below.name).run != nil { complain("under a run that stands after it") }
    }
    tell(name, trigger)
    if rule(name).runsOn {
      change(name) { ($0.isUp, $0.succeeded) = (true, $0.changed) }
      perform(machine.serviceStarted(name))
      return
    }
    change(name) { $0.run = $0.changed }
    let running = rules.count { world($0.name).run != nil } + leaving.count { $0.runs }
    if running > jobs { complain("more than there are places for") }
  }

  private mutating func tell(_ name: String, _ trigger: RunTrigger) {
    let paths = Set(trigger.changes.map(\.path))
    let isExact = rule(name).policy != .ignore && !isLoose
    if isExact && !world(name).paths.isSubset(of: paths) { complain("an unreported change") }
    change(name) { world in
      world.given = paths
      world.paths = []
    }
  }
}

// MARK: - What happens to it

extension TaskGraphModel {
  mutating func begin() {
    perform(machine.start())
  }

  mutating func step() {
    let roll = Int.random(in: 0..<60, using: &random)
    switch roll {
    case 0..<16: changeSome()
    case 16..<40: endOne(Int.random(in: 0..<4, using: &random) == 0 ? .failed : .succeeded)
    case 40..<50: serviceEvent()
    case 50: perform(machine.keyPressed())
    case 51:
      isLoose = true
      perform(machine.pause())
    case 52, 53: perform(machine.resume())
    case 54:
      (hasStopped, isLoose) = (true, true)
      perform(machine.stop())
    case 56: replace()
    case 57: oneLeaves()
    case 55:
      if Int.random(in: 0..<6, using: &random) == 0 { endAll() }
    default: endOne(.succeeded)
    }
  }

  private mutating func changeSome() {
    var triggers: [String: RunTrigger] = [:]
    clock += 1
    for rule in rules where Int.random(in: 0..<3, using: &random) == 0 {
      let path = Path("f\(clock)")
      triggers[rule.name] = .change(path)
      world[rule.name]?.changed = clock
      world[rule.name]?.paths.insert(path)
    }
    perform(machine.changed(triggers))
  }

  /// Some run ends.
  private mutating func endOne(_ result: TaskStateMachine.Result) {
    let running = rules.map(\.name).filter { world($0).run != nil }
    guard let name = running.randomElement(using: &random) else { return }
    end(name, result)
  }

  private mutating func end(_ name: String, _ result: TaskStateMachine.Result) {
    guard let run = world(name).run else { return }
    var result = result
    if world(name).isStopping { result = .cancelled }
    change(name) { world in
      (world.run, world.isStopping) = (nil, false)
      world.latest = result
      if result == .succeeded { world.succeeded = run }
    }
    perform(machine.ended(name, result))
  }

  private mutating func serviceEvent() {
    let services = rules.filter(\.runsOn).map(\.name)
    guard let name = services.randomElement(using: &random), world(name).isUp else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: perform(machine.serviceCrashed(name))
    case 1: perform(machine.serviceStarted(name))
    case 2:
      if let generation = world(name).generation {
        perform(machine.serviceIsLate(name, generation: generation))
      }
    default: ready(name)
    }
  }

  private mutating func ready(_ name: String) {
    guard let generation = world(name).generation else { return }
    perform(machine.serviceIsReady(name, generation: generation))
  }

  /// Some tasks are other than before.
  private mutating func replace() {
    let kept = rules.map(\.name).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
    perform(machine.replace(rules, jobs: jobs, keeping: Set(kept)))
  }

  private mutating func oneLeaves() {
    guard let name = leaving.randomElement(using: &random)?.name else { return }
    if let last = leaving.lastIndex(where: { $0.name == name }) { leaving.remove(at: last) }
    perform(machine.isGone(name))
  }

  private mutating func endAll() {
    isEnding = true
    perform(machine.end())
  }

  /// Lets everything come to a good end, until nothing is left to do.
  mutating func settle() {
    perform(machine.resume())
    // Each round brings at least one of them on.
    for _ in 0..<60 {
      while !leaving.isEmpty { oneLeaves() }
      for rule in rules {
        if isEnding {
          guard world(rule.name).isStopping, !world(rule.name).isEnded else { continue }
          change(rule.name) { $0.isEnded = true }
          perform(machine.isGone(rule.name))
        } else {
          end(rule.name, .succeeded)
          if world(rule.name).isUp, machine.tasks[rule.name]?.service == .crashed {
            perform(machine.serviceStarted(rule.name))
          }
          ready(rule.name)
        }
      }
      let isRestless = machine.tasks.values.contains { $0.isUnsettled || $0.service == .crashed }
      if isEnding ? isFinished : !isRestless { break }
    }
    if isEnding {
      if !isFinished { complain("an end without a finish") }
      return
    }
    for rule in rules {
      let task = machine.tasks[rule.name]
      if task?.isUnsettled ?? true { complain("something that never settles") }
      let isExact = rule.policy != .ignore && !hasStopped
      if case .skipped = task?.outcome { continue }
      if isExact && !world(rule.name).paths.isEmpty { complain("a lost change") }
    }
  }
}
