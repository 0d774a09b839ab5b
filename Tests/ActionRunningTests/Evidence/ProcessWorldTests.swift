import FileObservation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Random processes and people in virtual time, the same ones each time. Their author knew the promises of
/// CONTRIBUTING, but not the rule.
struct ProcessWorldTests {
  private static let second = ProcessWorld.second
  private static let seeds: Range<UInt64> = {
    let first = environmentVariable("WATCHRUN_SEED").flatMap { UInt64($0) }
    let count = environmentVariable("WATCHRUN_SEEDS").flatMap { UInt64($0) }
    let start = first ?? 1
    return start..<start + (count ?? UInt64(Effort.count(15, quick: 2)))
  }()

  private typealias Step = @Sendable (inout ProcessWorld, Int) -> Void

  // MARK: Processes

  /// A process that wakes, and children that start and end, at any pace.
  private static func makeBusy(_ world: inout ProcessWorld) -> [Step] {
    var steps: [Step] = []
    if world.pick(0...1) == 0 {
      let pause = [5, 30, 200, 1000][world.pick(0...3)] * 1000
      steps.append { world, run in repeatedly(&world, pause, run) { $0.wake($0.leader) } }
    }
    if world.pick(0...1) == 0 {
      let pause = [20, 100, 700, 4000][world.pick(0...3)] * 1000
      let life = world.pick(1...40) * 1000
      steps.append { world, run in
        repeatedly(&world, pause, run) { world in
          let child = world.fork()
          world.after(life, inRun: run) { $0.reap(child, by: $0.leader) }
        }
      }
    }
    if world.pick(0...2) == 0 {
      let delay = world.pick(50...2000) * 1000
      steps.append { world, run in world.after(delay, inRun: run) { _ = $0.fork() } }
    }
    if world.pick(0...5) == 0 { world.isHidden = true }
    if world.pick(0...3) == 0 { world.timeOfStop = 100_000...600_000 }
    if world.pick(0...2) == 0 { world.clockTick = [1, 10_000][world.pick(0...1)] }
    return steps
  }

  private static func repeatedly(
    _ world: inout ProcessWorld, _ pause: Int, _ run: Int,
    _ step: @escaping @Sendable (inout ProcessWorld) -> Void
  ) {
    let jitter = world.pick(pause * 4 / 5...pause)
    world.after(jitter, inRun: run) { world in
      step(&world)
      repeatedly(&world, pause, run, step)
    }
  }

  /// What a run writes to the tree: by itself, an orphan or a daemon, by any means, soon, late or often.
  private static func makeWriter(_ world: inout ProcessWorld, _ name: String) -> Step {
    let means = ProcessWorld.Means.allCases[world.pick(0...5)]
    let isFresh = world.pick(0...3) == 0
    let isOutside = world.pick(0...3) == 0
    if isOutside { world.hasDaemon = true }
    let isKeptOpen = world.pick(0...2) == 0
    let delays = [0, 20, 300, 1000, 3000, 9000, 20_000]
    let delay = 1000 * delays[world.pick(0...6)]
    let jitter = [0, 50_000, 700_000][world.pick(0...2)]
    let pause: Int? = world.pick(0...2) == 0 ? [100, 300, 2000][world.pick(0...2)] * 1000 : nil
    let lateReport: Int? = world.pick(0...5) == 0 ? world.pick(20...500) * 1000 : nil
    if lateReport != nil { world.reportsLate = true }
    if jitter > 100_000 { world.writesAtAnyTime = true }
    if !isFresh { world.runPaths.insert(Path("/p/out/\(name)")) }
    return { world, run in
      let write: @Sendable (inout ProcessWorld) -> Void = { world in
        let path = Path("/p/out/" + (isFresh ? "\(name)\(world.now)" : name))
        world.runPaths.insert(path)
        if isKeptOpen { world.setOpen(path, in: world.leader) }
        world.change(
          path, world.now, by: isOutside ? nil : world.leader, means, reportedAfter: lateReport)
      }
      let wait = delay + (jitter > 0 ? world.pick(0...jitter) : 0)
      world.after(wait, inRun: isOutside ? nil : run, write)
      if let pause { repeatedly(&world, pause, run, write) }
    }
  }

  // MARK: People

  /// Plans saves at any pace from now on. Returns when they have ended.
  private static func plan(_ world: inout ProcessWorld, count: Int) -> ProcessWorld.Time {
    let paces = [0.1, 0.25, 0.5, 1, 1.3, 2, 4, 5, 10, 20, 60]
    let pace = Int(paces[world.pick(0...10)] * Double(second))
    let manner = world.pick(0...4)
    let isOne = world.pick(0...1) == 0
    var time = 0
    for number in 0..<count {
      let path: Path = isOne || number % 2 == 0 ? "/p/a.c" : "/p/b.c"
      let means: ProcessWorld.Means = number % 3 == 2 ? .replace : .overwrite
      world.after(time) { $0.save(path, 1_000_000 + number, means) }
      switch manner {
      case 0: time += pace
      case 1: time += world.pick(pace / 2...pace * 2)
      case 2: time += number % 2 == 0 ? world.pick(15...400) * 1000 : pace
      case 3: time += number % 5 == 4 ? pace * 3 : 30_000
      default: time += number % 2 == 0 ? pace : world.pick(1...50) * 1000
      }
    }
    return world.now + time
  }

  private static func saveInEachRun(_ world: inout ProcessWorld, _ run: Int) {
    guard run < 12, world.pick(0...3) > 0 else { return }
    let time = Int(Double(world.duration ?? second) * Double(world.pick(1...95)) / 100)
    world.after(time, inRun: run) { $0.save("/p/test.c", run * 7_000_000 + $0.now) }
  }

  // MARK: Sessions

  private static func session(
    _ seed: UInt64, isTraced: Bool = false, isLive: Bool
  ) -> (world: ProcessWorld, end: Int) {
    var world = ProcessWorld(isLive: isLive, seed: seed &* 2 &+ (isLive ? 1 : 0))
    if isTraced { world.trace = [] }
    var steps = makeBusy(&world)
    if !isLive {
      world.duration = [5, 50, 300, 1000, 3000, 8000, 20_000][world.pick(0...6)] * 1000
    }
    for number in 0..<world.pick(0...2) { steps.append(makeWriter(&world, "w\(number)")) }
    let savesInRuns = world.pick(0...2) == 0
    world.runBegan = { [steps] world, run in
      for step in steps { step(&world, run) }
      if savesInRuns { saveInEachRun(&world, run) }
    }
    world.begin()
    world.advance(to: world.pick(0...5) * second)
    let last = plan(&world, count: 20)
    world.advance(to: last)
    let end = max(last, world.saves.last?.time ?? 0)
    world.advance(to: end + 400 * second)
    world.settle()
    return (world, max(end, world.saves.last?.time ?? 0))
  }

  @Test(arguments: [false, true])
  func `no save is absorbed, dropped or blamed, and runs come to rest`(isLive: Bool) {
    var complaints: [String] = []
    for seed in Self.seeds {
      let (world, end) = Self.session(seed, isLive: isLive)
      complaints += world.complaints.prefix(1).map { "\(seed): \($0)" }
      let (early, late) = (
        world.mostRuns(within: 40, from: end),
        world.mostRuns(within: 30, from: end + 90 * Self.second)
      )
      // What is written at any time, or looks like a person's for other reasons, becomes rare by the limit only.
      let isWide =
        world.writesAtAnyTime || world.isHidden || world.hasDaemon || isLive && world.reportsLate
      if early > (isWide ? 100 : 16) || late > 8 {
        complaints.append("\(seed): \(early), \(late) runs")
      }
    }
    #expect(complaints.isEmpty)
  }

  private static func silentServer(_ seed: UInt64, isTraced: Bool = false) -> ProcessWorld {
    var world = ProcessWorld(isLive: true, seed: seed)
    if isTraced { world.trace = [] }
    let steps = makeBusy(&world)
    world.timeOfStop = 1000...30_000
    world.runBegan = { world, run in for step in steps { step(&world, run) } }
    world.begin()
    world.advance(to: 2 * second)
    let last = plan(&world, count: 40)
    world.advance(to: last + 700 * second)
    world.settle()
    return world
  }

  @Test func `saves beside a server that writes nothing act at once`() {
    var complaints: [String] = []
    for seed in Self.seeds {
      let world = Self.silentServer(seed)
      complaints += world.complaints.prefix(1).map { "\(seed): \($0)" }
      let delays = world.saves.map { ($0.answered ?? .max) - $0.time }
      let slow = delays.count { $0 > 100_000 }
      let late =
        delays.prefix(30).count { $0 > 1_100_000 } + delays.dropFirst(30).count { $0 > 4_100_000 }
      // At a pace as even as that of a machine, some saves are delayed by a test.
      if !world.isHidden && (slow > 16 || late > 0) {
        complaints.append("\(seed): \(slow) slow, \(late) late, \((delays.max() ?? 0) / 1000) ms")
      }
    }
    #expect(complaints.isEmpty)
  }

  /// A build that rewrites its outputs, and the number of runs for each save.
  private static func build(
    _ seed: UInt64, isTraced: Bool = false
  ) -> (world: ProcessWorld, runs: [Int]) {
    var world = ProcessWorld(isLive: false, seed: seed)
    if isTraced { world.trace = [] }
    let duration = [20, 300, 1000, 5000][world.pick(0...3)] * 1000
    world.duration = duration
    let isAnew = world.pick(0...1) == 0
    let isBuilt = world.pick(0...1) == 0
    let count = world.pick(1...3)
    world.runPaths = Set((0..<count).map { Path("/p/out/o\($0)") })
    world.runBegan = { world, run in
      for (number, path) in world.runPaths.sorted().enumerated() {
        let time = duration * (20 + 25 * number) / 100
        if isAnew {
          world.after(time / 2, inRun: run) { $0.change(path, nil, by: $0.leader) }
          // It does not sleep before it writes.
          for step in stride(from: time / 2, to: time, by: 100) {
            world.after(step + 1, inRun: run) { $0.processes[$0.leader]?.isRunning = true }
          }
        }
        world.after(time, inRun: run) { world in
          let content = isAnew ? world.files["/p/a.c"]?.content ?? 0 : 5
          world.change(path, content, by: world.leader, isAnew ? .replace : .overwrite)
          if isBuilt { world.setProgram(path) }
        }
      }
    }
    world.begin()
    world.advance(to: 10 * second)
    let runs = (0..<8).map { number in
      let before = world.starts.count
      world.save("/p/a.c", number + 100)
      world.advance(to: world.now + 4 * duration + world.pick(1...8) * second)
      return world.starts.count - before
    }
    world.settle()
    return (world, runs)
  }

  @Test func `from the third save on, a build that rewrites its outputs runs once a save`() {
    var complaints: [String] = []
    for seed in Self.seeds {
      let (world, runs) = Self.build(seed)
      if runs.dropFirst(2).contains(where: { $0 != 1 }) {
        complaints.append("\(seed): \(runs) runs")
      }
      complaints += world.complaints.prefix(1).map { "\(seed): \($0)" }
    }
    #expect(complaints.isEmpty)
  }

  /// The files that a server writes after each start, one after the other.
  enum Loop: CaseIterable {
    case two, five, ten, names

    /// When each is written, in milliseconds, and its name.
    fileprivate func writes(_ run: Int) -> [(time: Int, name: String)] {
      switch self {
      case .two: [(200, "f1"), (1200, "f2")]
      case .five: (1...5).map { (300 * $0, "f\($0)") }
      case .ten: (1...10).map { (400 * $0, "f\($0)") }
      case .names: [(200, "f1"), (500, "new\(run)")]
      }
    }

    fileprivate var mostInMinute: Int { self == .ten ? 25 : 20 }
  }

  private static func loop(_ loop: Loop, _ seed: UInt64, isTraced: Bool = false) -> ProcessWorld {
    var world = ProcessWorld(isLive: true, seed: seed)
    if isTraced { world.trace = [] }
    world.runBegan = { world, run in
      for (time, name) in loop.writes(run) {
        world.after(time * 1000 + world.pick(0...20_000), inRun: run) { world in
          world.change(Path("/p/\(name)"), world.now, by: world.leader)
        }
      }
    }
    world.begin()
    world.advance(to: 600 * second)
    return world
  }

  @Test(arguments: Loop.allCases)
  func `what runs write to several files becomes rare`(_ loop: Loop) {
    let worlds = Self.seeds.map { Self.loop(loop, $0) }
    let most = [60, 600].map { time in worlds.map { $0.mostRuns(within: time, from: 0) }.max() ?? 0
    }
    #expect(most[0] <= loop.mostInMinute && most[1] <= 60, "\(most)")
  }

  @Test(.enabled(if: environmentVariable("WATCHRUN_TRACE") != nil))
  func `a trace`() throws {
    let text = try #require(environmentVariable("WATCHRUN_TRACE"))
    let seed = try #require(UInt64(text.dropFirst()))
    let world =
      switch text.first {
      case "s": Self.silentServer(seed, isTraced: true)
      case "o": Self.build(seed, isTraced: true).world
      case "t": Self.loop(Loop.allCases[Int(seed) / 100], seed % 100, isTraced: true)
      default: Self.session(seed, isTraced: true, isLive: text.hasPrefix("l")).world
      }
    print("hidden: \(world.isHidden), tick: \(world.clockTick)")
    for line in world.trace ?? [] { print(line) }
  }
}
