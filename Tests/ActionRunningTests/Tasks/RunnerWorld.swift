import Dispatch
import FileObservation
import Support
import Synchronization
import SystemCalls
import TestSupport

@testable import ActionRunning

/// Processes that a model test makes and ends, in virtual time: commands, hooks, stop commands, and what they leave
/// behind. Some obey signals, some are slow, some belong to others. Broken promises are complained of.
final class RunnerWorld: ProcessLauncher, ReadinessProbe {
  /// What a process does when it is asked to end.
  enum Character: Hashable {
    case obedient
    /// Only SIGKILL ends it.
    case deaf
    /// It belongs to another user, and ends by itself after a long time.
    case foreign
    /// The kernel holds it beyond SIGKILL, for a while.
    case held
  }

  struct Process {
    let task: String
    /// `run`, `hook`, `stop` or `probe`.
    let kind: String
    var character: Character
    var leaderIsAlive = true
    var othersAreAlive = false
    var isDying = false
    /// Whether its leader has ended, and the runner does not know that yet.
    var isZombie = false
    let ended: @Sendable (ExitStatus) -> Void

    var isAlive: Bool { leaderIsAlive || othersAreAlive }
  }

  struct State {
    var random: SeededGenerator
    var processes: [Process] = []
    var complaints: [String] = []
    var story: [String] = []
    /// Whether another program answers at the port of a service.
    var occupied: Set<String> = []
    /// The programs that are being written, or are missing.
    var failing: [String: Int32] = [:]
    /// Whether a program has the terminal that is none of a task, such as an editor.
    var isTerminalTaken = false
    var awaitingTerminal: [@Sendable () -> Void] = []
    /// The tasks whose runs build, and where.
    var building: [String: Path] = [:]
    /// Whether all processes obey, and nothing fails.
    var isCalm = false
    /// The services of which two processes may run.
    var overlapping: Set<String> = []
    var finishCount = 0
    var isTracing = false
  }

  let state: Mutex<State>
  let scheduler = ManualScheduler()

  init(seed: UInt64) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
  }

  func random(_ range: Range<Int>) -> Int {
    state.withLock { Int.random(in: range, using: &$0.random) }
  }

  func complain(_ text: String) { state.withLock { $0.complaints.append(text) } }

  func note(_ text: String) {
    let now = scheduler.now.offset.nanoseconds / 1_000_000
    state.withLock { $0.story.append("\(now) \(text)") }
  }

  /// The processes that are alive, by their numbers.
  var living: [(number: Int, process: Process)] {
    state.withLock { state in
      state.processes.enumerated().filter { $1.isAlive }.map { ($0, $1) }
    }
  }

  func later(_ milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    _ = scheduler.schedule(
      at: scheduler.now.advanced(by: .milliseconds(milliseconds)), body)
  }

  // MARK: ProcessLauncher

  func launch(
    _ request: SpawnRequest, ended: @escaping @Sendable (ExitStatus) -> Void
  ) throws(SystemError) -> any LaunchedGroup {
    let words = request.arguments.map { String(decoding: $0, as: UTF8.self) }
    let (task, kind) = (words[0], words[1])
    if let code = state.withLock({ $0.failing[task] }), kind == "run" {
      note("\(task) \(kind) fails")
      throw SystemError(call: "posix_spawn", code: code)
    }
    let isCalm = state.withLock(\.isCalm)
    let character: Character =
      switch isCalm ? 0 : random(0..<40) {
      case 36: .deaf
      case 37: .held
      case 38: .foreign
      default: .obedient
      }
    let number = state.withLock { state in
      state.processes.append(
        Process(task: task, kind: kind, character: character, ended: ended))
      return state.processes.count - 1
    }
    note("\(task) \(kind) begins as \(number), \(character)")
    checkLaunch(task, kind, number)
    // Commands that are no runs end soon.
    if kind == "probe" || kind == "stop" {
      let status = random(0..<4) == 0 ? 1 : 0
      if kind == "stop" && status == 0 && random(0..<2) == 0 { signalAll(of: task) }
      if isCalm || random(0..<10) > 0 {
        later(random(1..<40)) { [weak self] in self?.end(number, .exited(Int32(status))) }
      }
    }
    return Group(world: self, number: number)
  }

  /// The stop command ends what it is meant to.
  private func signalAll(of task: String) {
    for (number, process) in living where process.task == task && process.kind == "run" {
      _ = signal(number, .terminate)
    }
  }

  private func checkLaunch(_ task: String, _ kind: String, _ number: Int) {
    let others = living.filter { $0.number != number && $0.process.task == task }
    if state.withLock({ $0.overlapping.contains(task) }) {
      let runs = others.count { $0.process.kind == "run" && !$0.process.isStuck }
      if kind == "run" && runs > 1 { complain("three processes of a service") }
      return
    }
    for (_, other) in others
    where (other.kind == "run" || other.kind == "hook") && !other.isStuck {
      if kind == "run" { complain("a run beside a \(other.kind)") }
      if kind == "hook" && (other.kind == "hook" || other.leaderIsAlive) {
        complain("a hook beside a \(other.kind)")
      }
    }
  }

  func hasTerminal(orCall retry: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.isTerminalTaken { state.awaitingTerminal.append(retry) }
      return !state.isTerminalTaken
    }
  }

  /// What has the terminal ends.
  func freeTerminal() {
    let awaiting = state.withLock { state in
      state.isTerminalTaken = false
      return exchange(&state.awaitingTerminal, with: [])
    }
    for retry in awaiting { retry() }
  }

  func activity(of groups: [any LaunchedGroup]) -> ProcessActivity? { nil }

  // MARK: Processes

  /// Ends the leader of a process, with or without others that stay.
  func end(_ number: Int, _ status: ExitStatus, leavingOthers: Bool = false) {
    let ended = state.withLock { state -> (@Sendable (ExitStatus) -> Void)? in
      guard state.processes[number].leaderIsAlive else { return nil }
      state.processes[number].leaderIsAlive = false
      state.processes[number].othersAreAlive = leavingOthers
      return state.processes[number].ended
    }
    guard let ended else { return }
    note("\(number) ends with \(status.code)\(leavingOthers ? ", leaving others" : "")")
    ended(status)
  }

  func endOthers(_ number: Int) {
    state.withLock { $0.processes[number].othersAreAlive = false }
  }

  /// Returns whether the group accepts the signal.
  func signal(_ number: Int, _ signal: Signal) -> Bool {
    let process = state.withLock { $0.processes[number] }
    if !process.isAlive { complain("a signal to a group that is gone") }
    note("\(number) receives \(signal)")
    let isForeign = process.character == .foreign
    if signal == .continue { return true }
    if isForeign {
      state.withLock { $0.processes[number].isDying = true }
      later(random(3000..<30_000)) { [weak self] in self?.vanish(number, .exited(0)) }
      return false
    }
    if signal == .hangup { return true }
    state.withLock { $0.processes[number].isDying = true }
    let dies = signal == .kill || process.character == .obedient
    if !dies { return true }
    let isHeld = process.character == .held
    later(isHeld ? random(2500..<9000) : random(0..<30)) { [weak self] in
      self?.vanish(number, .signaled(signal))
    }
    return true
  }

  func vanish(_ number: Int, _ status: ExitStatus) {
    let staysBehind = state.withLock { $0.processes[number].othersAreAlive }
    if staysBehind { return endOthers(number) }
    end(number, status)
  }

  // MARK: ReadinessProbe

  func ask(
    _ condition: TaskDefinition.Readiness.Condition, _ answer: @escaping @Sendable (Bool) -> Void
  ) {
    guard let port = condition.port else { return answer(false) }
    let task = "t\(port)"
    later(random(1..<20)) { [weak self] in
      guard let self else { return }
      let isOccupied = state.withLock { $0.occupied.contains(task) }
      let isServed = living.contains {
        $0.process.task == task && $0.process.kind == "run" && $0.process.leaderIsAlive
      }
      answer(isOccupied || isServed && random(0..<4) > 0)
    }
  }

  private final class Group: LaunchedGroup {
    private let world: RunnerWorld
    private let number: Int

    init(world: RunnerWorld, number: Int) {
      (self.world, self.number) = (world, number)
    }

    private var process: Process { world.state.withLock { $0.processes[number] } }

    func send(_ signal: Signal) { _ = world.signal(number, signal) }
    func sendToAll(_ signal: Signal) -> Bool { world.signal(number, signal) }
    var isAlive: Bool { process.isAlive }
    var survivor: Survivor? { nil }
    var leader: pid_t { pid_t(number + 1) }
    var buildDirectory: Path? {
      let process = process
      guard process.kind == "run" && process.leaderIsAlive else { return nil }
      return world.state.withLock { $0.building[process.task] }
    }
    var leaderHasEnded: Bool { process.isZombie }
    func filesOpenForWriting(_ paths: [Path]) -> [Path: WriteMode] { [:] }
  }
}

extension RunnerWorld.Process {
  /// Whether it cannot be stopped for a while.
  var isStuck: Bool { character == .foreign || character == .held }
}
