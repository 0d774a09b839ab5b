import PathFiltering
import SystemCalls
import TestSupport

@testable import FileObservation

/// The whole observation over a disk in memory: random operations happen between any two calls of
/// the tree, and a consumer follows the net changes of each burst.
///
/// The consumer knew the tree before. It looks at the paths that are reported, and must know the
/// whole tree afterwards: every path, with its file, content and mode.
struct ObservationModel {
  struct Setting {
    var name = ""
    var isPolled = false
    var traits = MemoryDisk.Traits()
    /// Operations also happen during the scans, and not only between them.
    var isConcurrent = true
    var overflows = false
    var setsClockBack = false
    /// Directories cannot be read or searched for a while.
    var lacksPermissions = false
    /// That is so from the start on.
    var lacksPermissionsAtStart = false
    /// Calls fail for a while, as without a free descriptor, memory, or with a fault of the disk.
    var fails = false
    /// The ignore rules are applied again, at any time.
    var appliesRules = false
    /// How many operations happen in one burst, at most.
    var operations = 12
    var watchLimit = Int.max
    /// The limit is lifted now and then, and is back.
    var liftsLimit = false
    var roots = [ObservationModel.root]
    var base: Path?
    /// Only files with these extensions are reported.
    var extensions: [String] = []
    /// Directories are replaced by others at once.
    var replaces = false
    /// Seeds that have found a fault, beside those of each run.
    var furtherSeeds: [UInt64] = []

    static let all: [Setting] = [
      Setting(name: "inotify"),
      Setting(name: "inotify, between reads", isConcurrent: false),
      Setting(name: "overflows", overflows: true),
      Setting(name: "clock set back", overflows: true, setsClockBack: true),
      Setting(name: "no times of birth", traits: .init(storesBirths: false)),
      Setting(name: "polling", isPolled: true),
      Setting(name: "polling, clock set back", isPolled: true, setsClockBack: true),
      Setting(name: "rules", appliesRules: true),
      Setting(name: "rules, overflows", overflows: true, appliesRules: true),
      Setting(
        name: "rules, below a base", appliesRules: true, roots: ["/r", "/r/a/b"], base: "/r"),
      Setting(name: "permissions", lacksPermissions: true, furtherSeeds: [96]),
      Setting(name: "permissions, overflows", overflows: true, lacksPermissions: true),
      Setting(name: "permissions, polling", isPolled: true, lacksPermissions: true),
      Setting(
        name: "permissions, start", lacksPermissions: true, lacksPermissionsAtStart: true,
        furtherSeeds: [96]),
      Setting(name: "failures", fails: true),
      Setting(name: "failures, overflows", overflows: true, fails: true),
      Setting(name: "failures, permissions", lacksPermissions: true, fails: true),
      Setting(name: "failures, polling", isPolled: true, fails: true),
      Setting(name: "watch limit", watchLimit: 3),
      Setting(name: "watch limit, overflows", overflows: true, watchLimit: 3),
      Setting(name: "watch limit, lifted", watchLimit: 3, liftsLimit: true),
      Setting(name: "nested roots", roots: nestedRoots, furtherSeeds: [2322]),
      Setting(
        name: "nested roots, overflows", overflows: true, roots: nestedRoots,
        furtherSeeds: [197, 295]),
      Setting(name: "nested roots, rules", appliesRules: true, roots: nestedRoots),
      Setting(
        name: "nested roots, permissions", lacksPermissions: true, roots: nestedRoots,
        furtherSeeds: [756]),
      Setting(name: "nested roots, polling", isPolled: true, roots: nestedRoots),
      Setting(
        name: "nested roots, watch limit", watchLimit: 3, roots: nestedRoots, furtherSeeds: [1176]),
      Setting(name: "awaited root", roots: ["/r", "/r/a/b"], furtherSeeds: [475]),
      Setting(
        name: "awaited root, overflows", overflows: true, roots: ["/r", "/r/a/b"],
        furtherSeeds: [169, 475, 1274, 1364]),
      Setting(
        name: "awaited root, below a base", roots: ["/r", "/r/a/b"], base: "/r",
        furtherSeeds: [686, 2450]),
      Setting(name: "replaced", roots: ["/r", "/r/a/b"], base: "/r", replaces: true),
      Setting(
        name: "replaced, permissions", lacksPermissions: true, roots: ["/r", "/r/a/b"], base: "/r",
        replaces: true, furtherSeeds: [107]),
      Setting(
        name: "extensions, awaited file", roots: ["/r", "/r/a/b/c.x"], base: "/r",
        extensions: ["x"], replaces: true, furtherSeeds: [147]),
      Setting(
        name: "extensions, overflows", overflows: true, roots: ["/r/a/b", "/r"], base: "/r",
        extensions: ["x"], replaces: true, furtherSeeds: [114]),
      Setting(
        name: "extensions, awaited root", roots: ["/r", "/r/a/b"], base: "/r", extensions: ["x"],
        replaces: true, furtherSeeds: [23, 210]),
      Setting(
        name: "extensions, awaited root, rules", appliesRules: true, roots: ["/r", "/r/a/b"],
        base: "/r", extensions: ["x"], replaces: true, furtherSeeds: [6, 210]),
    ]
  }

  struct Known: Equatable {
    /// With the time of birth, if there is one, that by which files are told apart. What was created
    /// in the clock tick in which another file was removed may have both of that.
    let inode: UInt64
    let born: Int64
    let type: FileType
    let content: Int
    let mode: UInt32

    func isSameFile(as other: Known) -> Bool {
      inode == other.inode && born == other.born && type == other.type
    }
  }

  static let root: Path = "/r"
  static let nestedRoots: [Path] = ["/r", "/r/a"]

  let setting: Setting
  let disk: MemoryDisk
  let hints: MemoryHints?
  let world: World
  var tree: ObservedTree
  var coalescer = Coalescer()
  var before: [Path: Known] = [:]
  /// Changes of paths that are as they were.
  var needless = 0
  var changeCount = 0
  /// What was wrong within the tree.
  var brokenInvariants: [String] = []
  var log: String { world.log }

  /// - Parameter isLogged: Whether what happens is written down, which takes most of the time.
  init(_ setting: Setting, seed: UInt64, isLogged: Bool) {
    self.setting = setting
    let disk = MemoryDisk(setting.traits)
    self.disk = disk
    world = World(disk, seed: seed, isLogged: isLogged)
    if !setting.extensions.isEmpty { world.names[2] = Path("c.\(setting.extensions[0])") }
    world.setsClockBack = false
    world.replaces = setting.replaces
    for directory in [Self.root, World.outside] { disk.create(directory, .directory) }
    for _ in 0..<world.random(16) { world.step() }
    disk.pass(1_000_000_000)
    before = Self.known(disk)
    disk.arrivals = []
    world.write("at the start: \(Self.text(before))")
    let hints = setting.isPolled ? nil : MemoryHints(disk)
    self.hints = hints
    hints?.limit = setting.watchLimit
    tree = ObservedTree(
      filter: PathFilter(extensions: setting.extensions, sources: []), source: hints,
      base: setting.base, disk: disk)
    if setting.overflows {
      hints?.overflows = { [world] in world.isActive && world.chance(1, in: 6) }
    }
  }
}

extension ObservationModel {
  /// What is wrong with the changes, if anything, and what has happened.
  static func faults(
    _ setting: Setting, seed: UInt64, isLogged: Bool
  ) throws -> (text: String, log: String)? {
    var model = ObservationModel(setting, seed: seed, isLogged: isLogged)
    var faults = try model.start()
    for _ in 0..<12 where faults.isEmpty { faults = try model.burst() }
    return faults.isEmpty ? nil : (faults.joined(separator: "; "), model.log)
  }
}

// MARK: - What the backend does

extension ObservationModel {
  /// The first scan and the comparison that follows it. Returns what is wrong with the changes.
  mutating func start() throws -> [String] {
    world.lacksPermissions = setting.lacksPermissionsAtStart
    world.fails = setting.fails
    world.begin(setting.isConcurrent ? world.random(setting.operations) : 0)
    for root in setting.roots { tree.add(.init(path: root, coverage: .recursive)) }
    while tree.scanPending(until: { [world] in world.chance(1, in: 2) }) { try readHints() }
    try readHints()
    var directories = tree.directories.entries
    let until = disk.latest
    world.write("compares for the first time")
    while !directories.isEmpty {
      for directory in directories.suffix(2) {
        tree.scanNow(directory, for: .diff(since: tree.start, .firstTime(until: until)))
      }
      directories.removeLast(min(2, directories.count))
      try readHints()
    }
    tree.walk.isComparedOnce = true
    world.end()
    world.permitAll()
    try settle()
    (world.setsClockBack, world.lacksPermissions) =
      (setting.setsClockBack, setting.lacksPermissions)
    return endBurst(isFirst: true)
  }

  /// A burst of changes, read while they happen. Returns what is wrong with them.
  mutating func burst() throws -> [String] {
    before = Self.known(disk)
    world.write("before: \(Self.text(before))")
    if setting.liftsLimit {
      hints?.limit = world.chance(1, in: 2) ? .max : hints?.watchCount ?? setting.watchLimit
    }
    world.begin(1 + world.random(setting.operations))
    while world.isActive {
      if !setting.isConcurrent || world.chance(1, in: 3) { world.act() }
      if world.chance(1, in: 2) { try observe() }
    }
    world.permitAll()
    try settle()
    return try endBurst(isFirst: false) + applyRulesAgain()
  }

  /// While nothing happens, the same rules change nothing. Returns what is reported all the same.
  private mutating func applyRulesAgain() throws -> [String] {
    if !setting.appliesRules { return [] }
    try applyRules()
    try settle()
    return coalescer.take().map { "\($0.path) is \($0.kind), by the same rules" }
  }

  private mutating func observe() throws {
    if setting.isPolled {
      let began = disk.now
      poll()
      tree.walk.comparedUntil = began
      take()
    } else {
      try readHints()
      if isUnhinted, world.chance(1, in: 3) { try examine() }
      if setting.appliesRules, world.chance(1, in: 3) { try applyRules() }
      if !tree.directories.unwatched.isEmpty, world.chance(1, in: 3) {
        poll()
        take()
      }
    }
  }

  /// As if an ignore file of the root had changed.
  private mutating func applyRules() throws {
    world.write("applies the rules")
    for root in tree.roots { tree.rules.stale.insert(root) }
    tree.refreshRules()
    while tree.refilter(until: { [world] in world.chance(1, in: 2) }) {
      take()
      if world.chance(1, in: 2) { try readHints() }
    }
    take()
  }

  /// Whether a directory must be examined again without a hint.
  private var isUnhinted: Bool { tree.directories.unexamined.keys.contains { tree.isUnhinted($0) } }

  private mutating func examine() throws {
    if !isUnhinted { return }
    world.write("examines")
    for directory in tree.directoriesToPoll where tree.isUnhinted(directory) {
      tree.poll(directory)
    }
    take()
    try readHints()
  }

  private mutating func poll() {
    world.write("polls")
    tree.poll()
    if setting.isPolled { tree.pollMissingRoots() }
  }

  private mutating func readHints() throws {
    if setting.isPolled {
      take()
      return
    }
    world.write("reads")
    try tree.readHints()
    take()
    if tree.hints.areDropped {
      world.write("rescans")
      tree.rescan()
      take()
    }
    if tree.hints.areArrivalsAwaited, world.chance(1, in: 2) { try stopAwaiting() }
  }

  private mutating func stopAwaiting() throws {
    try tree.readHints()
    tree.stopAwaitingArrivals()
    take()
  }

  /// Observes until nothing is left to be found.
  private mutating func settle() throws {
    for _ in 0..<4 {
      disk.pass(Int64(world.random(2)) * 100_000_000)
      if setting.isPolled {
        try observe()
      } else {
        repeat {
          try readHints()
          try stopAwaiting()
          try examine()
        } while hints?.hasHints == true || tree.hints.areDropped
        if !tree.directories.unwatched.isEmpty {
          poll()
          try readHints()
        }
        let isFound = take()
        if hints?.hasHints == false, !isFound { break }
      }
    }
  }

  /// Takes the events of the tree. Returns whether there are any.
  @discardableResult
  private mutating func take() -> Bool {
    let events = tree.takeFindings().events
    for event in events {
      world.write("  event: \(event.kind) \(event.path)")
      coalescer.note(event)
    }
    checkWatches()
    return !events.isEmpty
  }
}
