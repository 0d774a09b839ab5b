import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// The machine, with the simplest world around it: a process that runs or does not, a group that is
/// there or is not, and the paths that no run has been given yet.
private struct World {
  private var machine: ActionStateMachine
  private let policy: BusyPolicy
  private var random: SeededGenerator
  private var leaderRuns = false
  private var groupIsThere = false
  private var isStopping = false
  private var isFinished = false
  private var isEnding = false
  /// The generation of what is being listened for.
  private var listening: Int?
  private var waiting: Set<Path> = []
  private var given: Set<Path> = []
  private var launches = 0
  private var pathCount = 0
  private(set) var complaints: [String] = []

  init(policy: BusyPolicy, seed: UInt64) {
    self.policy = policy
    machine = ActionStateMachine(policy: policy, completion: .never)
    random = SeededGenerator(seed: seed)
  }

  private mutating func perform(_ actions: [ActionStateMachine.Action]) {
    for action in actions {
      switch action {
      case .launch(let trigger):
        if leaderRuns || groupIsThere { complaints.append("two runs at once") }
        if isEnding || isFinished { complaints.append("a run after the end") }
        if !waiting.isSubset(of: trigger.changes.map(\.path)) { complaints.append("a lost path") }
        if !given.isDisjoint(with: trigger.changes.map(\.path)) { complaints.append("told twice") }
        given.formUnion(waiting)
        waiting = []
        (leaderRuns, groupIsThere, isStopping) = (true, true, false)
        launches += 1
      case .listen(let generation):
        if leaderRuns { complaints.append("listening during a run") }
        listening = generation
      case .stop:
        if !groupIsThere || isStopping { complaints.append("a stop of nothing, or a second") }
        isStopping = true
      case .kill:
        if !isEnding { complaints.append("a kill out of order") }
      case .signal:
        if !leaderRuns { complaints.append("a signal to nothing") }
      case .finish:
        if groupIsThere || isFinished { complaints.append("a finish too early or twice") }
        isFinished = true
      }
    }
  }

  mutating func step() {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5:
      pathCount += 1
      let path = Path("f\(pathCount)")
      let counts =
        switch policy {
        case .queue, .restart: !isEnding
        // While a run is being stopped, or nothing runs, there is nothing to be busy with.
        case .ignore, .signal: !isEnding && (!leaderRuns || isStopping)
        }
      if counts { waiting.insert(path) }
      perform(machine.triggered(.change(path), isSuspect: Bool.random(using: &random)))
    case 5..<7:
      guard leaderRuns else { return }
      leaderRuns = false
      let leftovers = Bool.random(using: &random)
      if !isStopping { groupIsThere = leftovers }
      perform(machine.runEnded(.exited(0), leftovers: leftovers))
    case 7:
      listens()
    case 8:
      groupGoes()
    default:
      if Int.random(in: 0..<10, using: &random) > 0 { return }
      isEnding = true
      perform(machine.end())
    }
  }

  private mutating func listens() {
    // Also in vain: a timer is not taken back.
    if let listening { perform(machine.listened(generation: listening)) }
  }

  private mutating func groupGoes() {
    guard isStopping, !leaderRuns else { return }
    (groupIsThere, isStopping) = (false, false)
    perform(machine.groupIsGone())
  }

  /// Lets everything that runs end by itself, until nothing is left to do.
  mutating func settle() {
    for _ in 0..<4 {
      if leaderRuns {
        leaderRuns = false
        if !isStopping { groupIsThere = false }
        perform(machine.runEnded(.exited(0), leftovers: false))
      }
      listens()
      groupGoes()
    }
    if leaderRuns { complaints.append("runs without end") }
    if isEnding {
      if !isFinished { complaints.append("an end without a finish") }
    } else if !waiting.isEmpty {
      complaints.append("a trigger that led to nothing")
    }
  }

  /// While a run is under way, any number of triggers, and how many runs they lead to.
  mutating func runsAfterManyTriggers() -> Int {
    settle()
    if isEnding { return 1 }
    perform(machine.triggered(.change("first")))
    waiting = []
    while isStopping { groupGoes() }
    let before = launches
    for number in 0..<Int.random(in: 1...5, using: &random) {
      perform(machine.triggered(.change(Path("more\(number)"))))
    }
    waiting = []
    given = []
    settle()
    return launches - before
  }
}

struct ActionStateMachineModelTests {
  private static let policies: [BusyPolicy] = [.queue, .ignore, .restart, .signal(.terminate)]

  @Test(arguments: policies)
  func `random sequences keep every promise`(policy: BusyPolicy) {
    var complaints: Set<String> = []
    for seed in 1...2500 as ClosedRange<UInt64> {
      var world = World(policy: policy, seed: seed)
      for _ in 0..<30 { world.step() }
      world.settle()
      complaints.formUnion(world.complaints)
    }
    #expect(complaints.isEmpty)
  }

  @Test func `triggers during a run lead to exactly one more`() {
    for seed in 1...2500 as ClosedRange<UInt64> {
      var world = World(policy: .queue, seed: seed)
      for _ in 0..<10 { world.step() }
      #expect(world.runsAfterManyTriggers() == 1)
    }
  }
}
