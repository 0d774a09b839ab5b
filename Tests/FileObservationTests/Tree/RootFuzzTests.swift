#if os(Linux)

import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Watched paths that vanish and come back, directories above them that are moved and replaced, and
/// links that are pointed elsewhere, in random order and between any two steps of the observer.
///
/// `WATCHRUN_SEEDS=5000 swift test --filter RootFuzz` tries more seeds than those of CI.
@Suite(.blocks)
struct RootFuzzTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    let roots: [String]
    var hasLinks = false

    var testDescription: String { roots.joined(separator: " ") }

    static let all = [
      Setting(roots: ["a/b/c"]),
      Setting(roots: ["a/b/c", "a/x"]),
      Setting(roots: ["a/b/c/f"]),
      Setting(roots: ["a/b", "a/b/c"]),
      Setting(roots: ["", "a/b/c", "l"], hasLinks: true),
      Setting(roots: ["l"], hasLinks: true),
      Setting(roots: ["a/l"], hasLinks: true),
      Setting(roots: ["l/c/f"], hasLinks: true),
      Setting(roots: ["a/l/c", "z"], hasLinks: true),
      Setting(roots: ["a/b/c/f", "l/c/f"], hasLinks: true),
      Setting(roots: ["a/b", "l", "a/l"], hasLinks: true),
    ]
  }

  private static let seeds =
    environmentVariable("WATCHRUN_SEEDS").flatMap { UInt64($0) }
    ?? UInt64(Effort.count(24, quick: 1))

  @Test(arguments: Setting.all)
  func `each save is reported under every watched path of the file, and no other`(
    setting: Setting
  ) throws {
    for seed in 1...Self.seeds {
      var fuzz = try RootFuzz(setting, seed: seed)
      for _ in 0..<8 {
        if let fault = try fuzz.round() {
          Issue.record("seed \(seed): \(fault)\n\(fuzz.log.joined(separator: "; "))")
          return
        }
      }
    }
  }
}

private struct RootFuzz {
  private static let names = ["a", "a/b", "a/b/c", "a/x", "a/b/y", "z"]

  let setting: RootFuzzTests.Setting
  private let tree: WatchedTree
  private var generator: SeededGenerator
  private var count = 0
  private(set) var log: [String] = []
  private let files = FileManager.default

  init(_ setting: RootFuzzTests.Setting, seed: UInt64) throws {
    self.setting = setting
    generator = SeededGenerator(seed: seed)
    tree = try WatchedTree(
      setting.roots.map { name in
        (name, name.hasSuffix("f") ? Coverage.named : .recursive)
      }, hasBase: true
    ) { directory in
      for name in ["a/b/c", "a/x", "z"] { try directory.makeDirectories(name) }
      for name in ["a/b/c/f", "z/f"] { try directory.write("x", to: name) }
      if setting.hasLinks {
        _ = symlink("a/b", directory["l"].description)
        _ = symlink("b", directory["a/l"].description)
      }
    }
  }

  /// Some operations, and a write to each file that is watched afterwards. Returns what is wrong with
  /// the changes that are reported then.
  mutating func round() throws -> String? {
    for _ in 0...random(3) {
      if random(2) == 0 { log.append("\(try tree.changes())") }
      if random(3) == 0 {
        log.append("[")
        try tree.readHints { step() }
        log.append("]")
      } else {
        step()
      }
    }
    log.append("| \(try tree.changes()) \(try tree.changes()) |")
    var watched: [String: Set<String>] = [:]
    for root in setting.roots {
      for name in filesFound(at: root) { watched[realPath(name), default: []].insert(name) }
    }
    for path in watched.keys.sorted() {
      count += 1
      try Data("\(count)".utf8).write(to: URL(fileURLWithPath: path))
    }
    let lines = try tree.changes()
    let reported = Set(lines.map { String($0.split(separator: " ", maxSplits: 1)[1]) })
    let expected = watched.values.reduce(into: Set()) { $0.formUnion($1) }
    if reported == expected { return nil }
    return
      "lost \(expected.subtracting(reported).sorted()), reported \(lines)"
  }

  private mutating func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  private func place(_ name: String) -> String { tree.directory[name].description }

  private mutating func step() {
    let one = Self.names[random(Self.names.count)]
    let other = Self.names[random(Self.names.count)]
    func makeDirectories(_ name: String) {
      try? files.createDirectory(atPath: place(name), withIntermediateDirectories: true)
    }
    switch random(setting.hasLinks ? 9 : 7) {
    case 0, 1:
      let name = ["a/b/c", "a/x", "a/b/y", "z"][random(4)]
      log.append("mkdir -p \(name)")
      makeDirectories(name)
    case 2:
      log.append("rm -r \(one)")
      try? files.removeItem(atPath: place(one))
    case 3, 4:
      log.append("mv -T \(one) \(other)")
      _ = rename(place(one), place(other))
    case 5:
      count += 1
      let name = random(2) == 0 ? "a/b/c" : one
      log.append("mv \(one) old\(count); mkdir -p \(name)")
      _ = rename(place(one), place("old\(count)"))
      makeDirectories(name)
    case 6:
      count += 1
      log.append("echo > \(one)/f")
      try? Data("\(count)".utf8).write(to: URL(fileURLWithPath: place(one + "/f")))
    default:
      let link = ["l", "a/l"][random(2)]
      let target = ["a/b", "z", "b", "x"][random(4)]
      log.append("ln -sfnT \(target) \(link)")
      if (try? files.destinationOfSymbolicLink(atPath: place(link))) != nil
        || !files.fileExists(atPath: place(link))
      {
        try? files.removeItem(atPath: place("new"))
        _ = symlink(target, place("new"))
        _ = rename(place("new"), place(link))
      }
    }
  }

  private func realPath(_ name: String) -> String {
    URL(fileURLWithPath: place(name)).resolvingSymlinksInPath().path
  }

  /// The files at a root and in it, but not those behind links within it.
  private func filesFound(at root: String) -> [String] {
    var isDirectory: ObjCBool = false
    guard files.fileExists(atPath: place(root), isDirectory: &isDirectory) else { return [] }
    if !isDirectory.boolValue { return [root] }
    return (try? files.contentsOfDirectory(atPath: place(root)))?.flatMap { name -> [String] in
      let path = root.isEmpty ? name : root + "/" + name
      if (try? files.destinationOfSymbolicLink(atPath: place(path))) != nil { return [] }
      return filesFound(at: path)
    } ?? []
  }
}

#endif  // os(Linux)
