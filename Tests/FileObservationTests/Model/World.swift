import SystemCalls
import TestSupport

@testable import FileObservation

/// What happens on the disk beside the observer.
final class World {
  /// A directory that is not observed.
  static let outside: Path = "/o"

  private let disk: MemoryDisk
  private var generator: SeededGenerator
  private let isLogged: Bool
  private var budget = 0
  private var isBusy = false
  var setsClockBack = false
  var lacksPermissions = false
  /// Whether directories are replaced by others at once.
  var replaces = false
  var names: [Path] = ["a", "b", "c"]
  private var outsideCount = 0
  /// Whether calls of the observer fail now and then, while anything happens.
  var fails = false
  private(set) var log = ""

  init(_ disk: MemoryDisk, seed: UInt64, isLogged: Bool) {
    self.disk = disk
    self.isLogged = isLogged
    generator = SeededGenerator(seed: seed)
    if isLogged { disk.note = { [unowned self] in write("    \($0) \($1?.description ?? "")") } }
    disk.meanwhile = { [unowned self] in
      if !isBusy, isActive, chance(1, in: 5) { act() }
    }
    disk.failure = { [unowned self] path in
      guard fails, isActive, chance(1, in: 10) else { return nil }
      let code = [EIO, EMFILE, ENOMEM][random(3)]
      write("    error \(code) at \(path)")
      return code
    }
  }

  var isActive: Bool { budget > 0 }

  func begin(_ operations: Int) { budget = operations }
  func end() { budget = 0 }

  func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
  func chance(_ part: Int, in whole: Int) -> Bool { random(whole) < part }

  func write(_ text: @autoclosure () -> String) {
    if isLogged { log += text() + "\n" }
  }

  /// One operation, of those that are left.
  func act() {
    guard budget > 0 else { return }
    budget -= 1
    step()
  }

  func step() {
    isBusy = true
    defer { isBusy = false }
    switch random(6) {
    case 0: disk.pass(Int64(random(1_000_000)))
    case 1: disk.pass(Int64(random(10)) * 1_000_000)
    case 2: disk.pass(100_000_000)
    case 3 where setsClockBack && chance(1, in: 8):
      perform("clock set back") { $0.pass(-3_600_000_000_000) }
    default: break
    }
    let known = disk.tree(at: ObservationModel.root)
    let all = known.keys.sorted()
    let directories = all.filter { known[$0]?.type == .directory }
    let path = directories[random(directories.count)].appending(names[random(3)].bytes)
    let some = all[random(all.count)]
    switch random(20) {
    case 0...4:
      let type: FileType = chance(1, in: 2) ? .file : .directory
      perform("create \(path) \(type)") { $0.create(path, type) }
    case 5...8:
      perform("write \(some)") { $0.write(some) }
    case 9 where lacksPermissions && known[some]?.type == .directory:
      let mode: UInt32 = [0, 0o600, 0o500][random(3)]
      perform("mode \(mode) of \(some)") { $0.setMode(mode, of: some) }
    case 9:
      let mode: UInt32 = known[some]?.type == .directory ? 0o700 : 0o600
      let other = mode | 0o055
      let present = known[some]?.mode == mode ? other : mode
      perform("mode of \(some)") { $0.setMode(present, of: some) }
    case 10...11 where replaces && known[some]?.type == .directory && some != ObservationModel.root:
      replace(some)
    case 10:
      perform("set back \(some)") { $0.setModified(some) }
    case 11...12:
      for inner in all.reversed() where inner.isWithin(some) && some != ObservationModel.root {
        perform("remove \(inner)") { $0.remove(inner) }
      }
    case 13...17 where some != ObservationModel.root:
      perform("rename \(some) to \(path)") { $0.rename(some, to: path) }
    case 18 where some != ObservationModel.root:
      perform("exchange \(some) and \(path)") { $0.exchange(some, path) }
    default:
      perform("write \(path)") { $0.write(path) }
    }
  }

  /// Moves a directory away, and creates or moves another one to its path.
  private func replace(_ directory: Path) {
    outsideCount += 1
    let (new, old) = (
      Self.outside.appending("new\(outsideCount)"), Self.outside.appending("old\(outsideCount)")
    )
    if chance(1, in: 2) {
      perform("replace \(directory)") {
        $0.rename(directory, to: old)
        $0.create(directory, .directory)
      }
    } else {
      perform("replace \(directory) by one with a directory") {
        $0.create(new, .directory)
        for name in names[1...] { $0.create(new.appending(name.bytes), .directory) }
        $0.rename(directory, to: old)
        $0.rename(new, to: directory)
      }
    }
  }

  func permitAll() {
    for (path, node) in disk.tree(at: ObservationModel.root).sorted(by: { $0.key < $1.key })
    where node.type == .directory && node.mode & 0o500 != 0o500 {
      perform("permit \(path)") { $0.setMode(0o755, of: path) }
    }
  }

  private func perform(_ text: @autoclosure () -> String, _ operation: (MemoryDisk) -> Void) {
    write("@\(disk.time / 1_000_000) \(text())")
    operation(disk)
  }
}
