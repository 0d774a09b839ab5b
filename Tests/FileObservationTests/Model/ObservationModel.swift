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
    /// The ignore rules are applied again, at any time.
    var appliesRules = false
    /// How many operations happen in one burst, at most.
    var operations = 12
    var watchLimit = Int.max

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
      Setting(name: "permissions", lacksPermissions: true),
      Setting(name: "permissions, overflows", overflows: true, lacksPermissions: true),
      Setting(name: "permissions, polling", isPolled: true, lacksPermissions: true),
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

    func isSameFile(as other: Known) -> Bool { inode == other.inode && born == other.born }
  }

  static let root: Path = "/r"

  private let setting: Setting
  private let disk: MemoryDisk
  private let hints: MemoryHints?
  private let world: World
  private var tree: ObservedTree
  private var coalescer = Coalescer()
  private var before: [Path: Known] = [:]
  /// Changes of paths that are as they were.
  private(set) var needless = 0
  private(set) var changeCount = 0
  var log: String { world.log }

  /// - Parameter isLogged: Whether what happens is written down, which takes most of the time.
  init(_ setting: Setting, seed: UInt64, isLogged: Bool) {
    self.setting = setting
    let disk = MemoryDisk(setting.traits)
    self.disk = disk
    world = World(disk, seed: seed, isLogged: isLogged)
    world.setsClockBack = false
    disk.create(Self.root, .directory)
    for _ in 0..<world.random(16) { world.step() }
    disk.pass(1_000_000_000)
    before = Self.known(disk)
    world.write("at the start: \(Self.text(before))")
    let hints = setting.isPolled ? nil : MemoryHints(disk)
    self.hints = hints
    hints?.limit = setting.watchLimit
    tree = ObservedTree(filter: PathFilter(sources: []), source: hints, disk: disk)
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
    world.begin(setting.isConcurrent ? world.random(setting.operations) : 0)
    tree.add(.init(path: Self.root, coverage: .recursive))
    while tree.scanPending(atMost: 1 + world.random(3)) { try readHints() }
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
    try settle()
    (world.setsClockBack, world.lacksPermissions) =
      (setting.setsClockBack, setting.lacksPermissions)
    return endBurst(isFirst: true)
  }

  /// A burst of changes, read while they happen. Returns what is wrong with them.
  mutating func burst() throws -> [String] {
    before = Self.known(disk)
    world.write("before: \(Self.text(before))")
    world.begin(1 + world.random(setting.operations))
    while world.isActive {
      if !setting.isConcurrent || world.chance(1, in: 3) { world.act() }
      if world.chance(1, in: 2) { try observe() }
    }
    world.permitAll()
    try settle()
    return endBurst(isFirst: false)
  }

  private mutating func observe() throws {
    if setting.isPolled {
      let began = disk.now
      poll()
      tree.comparedUntil = began
      take()
    } else {
      try readHints()
      if setting.appliesRules, world.chance(1, in: 3) { try applyRules() }
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

  private mutating func poll() {
    world.write("polls")
    tree.poll(Array(tree.watches.unwatched), since: tree.start)
    tree.pollMissingRoots()
  }

  private mutating func readHints() throws {
    guard !setting.isPolled else { return take() }
    world.write("reads")
    try tree.readHints()
    take()
    if tree.hasDroppedHints {
      world.write("rescans")
      tree.rescan()
      take()
    }
    if !tree.awaited.isEmpty, world.chance(1, in: 2) { try stopAwaiting() }
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
        } while hints?.hasHints == true || tree.hasDroppedHints
        if !tree.watches.unwatched.isEmpty { poll() }
        take()
        if hints?.hasHints == false { return }
      }
    }
  }

  private mutating func take() {
    for event in tree.takeFindings().events {
      world.write("  event: \(event.kind) \(event.path)")
      coalescer.note(event)
    }
  }
}

// MARK: - The consumer

extension ObservationModel {
  private static func known(_ disk: MemoryDisk) -> [Path: Known] {
    disk.tree(at: root).mapValues { node in
      Known(
        inode: node.inode, born: disk.traits.storesBirths ? node.born : 0, type: node.type,
        content: node.type == .directory ? 0 : node.content, mode: node.mode)
    }
  }

  private mutating func endBurst(isFirst: Bool) -> [String] {
    let changes = coalescer.take()
    changeCount += changes.count
    for change in changes {
      world.write(
        "  \(change.kind) \(change.path) \(change.type)"
          + (change.from.map { " from \($0)" } ?? ""))
    }
    let now = Self.known(disk)
    var faults: [String] = []
    let paths = changes.map(\.path)
    if Set(paths).count != paths.count { faults.append("a path has two changes") }
    // Of the directories that have changed before they were known, all is read.
    let reads = isFirst ? changes.filter { $0.type == .directory }.map(\.path) : []
    let mirror = Self.following(changes, from: before, reading: now, whole: reads)
    for path in Set(mirror.keys).union(now.keys).sorted() where mirror[path] != now[path] {
      if isFirst, isUnknowable(mirror[path], now[path]) { continue }
      faults.append("\(path) is wrong")
    }
    for change in changes {
      if let fault = fault(of: change, now) {
        // What changed rules leave to its hint may have gone, or be another file, when that is read.
        if isFirst && change.kind != .created || setting.appliesRules { continue }
        faults.append("\(change.path) is not \(change.kind): \(fault)")
      }
      if before[change.path] == now[change.path], change.from == nil { needless += 1 }
    }
    return faults
  }

  /// Whether the observer cannot know of a difference that was made before it had listed the
  /// directory: a removal, or the mode of a directory in which something else was changed.
  private func isUnknowable(_ was: Known?, _ now: Known?) -> Bool {
    guard let now else { return true }
    return now.type == .directory && was?.isSameFile(as: now) == true
  }

  /// Why a change cannot be right, if it cannot.
  private func fault(of change: ChangeBatch.Change, _ now: [Path: Known]) -> String? {
    let (was, present) = (before[change.path], now[change.path])
    switch change.kind {
    case .created:
      if present == nil { return "it does not exist" }
      return present.flatMap { was?.isSameFile(as: $0) } == true ? "it was there" : nil
    case .modified, .metadata:
      return present == nil ? "it does not exist" : nil
    case .removed:
      if present != nil { return "it exists" }
      return was == nil ? "it did not exist" : nil
    case .renamed:
      guard let present else { return "it does not exist" }
      let isSame = change.from.flatMap { before[$0] }?.isSameFile(as: present) == true
      return isSame ? nil : "it is another file"
    }
  }

  /// The tree that results from what was known and the reported paths, which are read.
  private static func following(
    _ changes: [ChangeBatch.Change], from before: [Path: Known], reading now: [Path: Known],
    whole: [Path]
  ) -> [Path: Known] {
    let renames = changes.compactMap { change in
      change.type == .directory ? change.from.map { (old: $0, new: change.path) } : nil
    }
    func present(_ path: Path) -> Path {
      let nearest = renames.filter { path.isWithin($0.old) }.max {
        $0.old.bytes.count < $1.old.bytes.count
      }
      guard let nearest, path != nearest.old, let rest = path.relative(to: nearest.old) else {
        return nearest?.new ?? path
      }
      return nearest.new.appending(rest.bytes)
    }
    var mirror: [Path: Known] = [:]
    for (path, node) in before {
      let isMoved = renames.contains { path.isWithin($0.old) }
      // What a renamed directory has replaced is gone.
      if !isMoved && renames.contains(where: { path.isWithin($0.new) }) { continue }
      mirror[present(path)] = node
    }
    func read(_ path: Path) { mirror[path] = now[path] }
    for change in changes where change.kind == .removed || change.from != nil {
      let old = change.from ?? change.path
      for path in [old, present(old)] {
        read(path)
        // With a directory, all in it is gone.
        if now[path] == nil {
          for inner in mirror.keys where inner.isWithin(path) { mirror[inner] = nil }
        }
      }
    }
    for change in changes { read(change.path) }
    for directory in whole {
      for path in Set(mirror.keys).union(now.keys) where path.isWithin(directory) { read(path) }
    }
    return mirror
  }

  static func text(_ known: [Path: Known]) -> String {
    known.keys.sorted().map { "\($0)" + (known[$0]?.type == .directory ? "/" : "") }
      .joined(separator: " ")
  }
}
