#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Whatever stands at the path of a root, or at the path to which it links, is followed when something
/// else takes its place.
@Suite(.blocks)
struct RootKindTests {
  enum Kind: CaseIterable {
    case linkToFile, linkToDirectory, linkToNothing, missing, file, directory

    var isDirectory: Bool { self == .directory || self == .linkToDirectory }
  }

  /// What changes, `r` itself or `p`, to which it links, and whether directories above it may be
  /// replaced.
  struct Place: CustomTestStringConvertible {
    let name: String
    let hasBase: Bool

    var testDescription: String { hasBase ? "\(name), with a base" : name }

    static let all = [
      Place(name: "r", hasBase: false), Place(name: "p", hasBase: true),
      Place(name: "r", hasBase: true), Place(name: "p", hasBase: false),
    ]
  }

  @Test(arguments: Kind.allCases, Effort.rows(Place.all, quick: 2))
  func `what stands at a root is followed, whatever was there before`(first: Kind, place: Place)
    throws
  {
    for second in Kind.allCases {
      let root = try ChangingRoot(first, at: place)
      try root.check()
      for next in [second] + Effort.rows(Kind.allCases, quick: 2) {
        try root.replace(by: next)
        try root.check()
      }
    }
  }

  @Test(arguments: [false, true])
  func `a link to the same directory by way of another link is followed`(areHintsDropped: Bool)
    throws
  {
    let watched = try WatchedTree([("r", .recursive)]) {
      try $0.makeDirectories("one")
      try $0.makeDirectories("two")
      try $0.link("l", to: "one")
      try $0.link("r", to: "one")
    }
    func replace(_ link: String, by target: String) throws {
      try watched.directory.link("new", to: target)
      try watched.directory.rename("new", to: link)
    }
    try replace("r", by: "l")
    if areHintsDropped {
      try watched.dropHints()
      watched.rescan()
    }
    #expect(try watched.changes() == [])
    try replace("l", by: "two")
    #expect(try watched.changes() == ["modified r"])
    try watched.directory.write(to: "two/f")
    #expect(try watched.changes() == ["created r/f"])
  }

  @Test func `a directory that was moved while hints were dropped is followed by the link to it`()
    throws
  {
    let watched = try WatchedTree([("r", .recursive)]) {
      try $0.makeDirectories("r")
      try $0.makeDirectories("two")
    }
    try watched.directory.rename("r", to: "one")
    try watched.directory.link("r", to: "one")
    try watched.dropHints()
    watched.rescan()
    #expect(try watched.changes() == [])
    try watched.directory.remove("r")
    try watched.directory.link("r", to: "two")
    #expect(try watched.changes() == ["modified r"])
    try watched.directory.write(to: "two/f")
    #expect(try watched.changes() == ["created r/f"])
  }

  /// Two changes, of which the second is made between any two calls of the disk while the first is
  /// processed, and what is reported when `write` is written then.
  struct Interruption: CustomTestStringConvertible {
    let testDescription: String
    var coverage = Coverage.recursive
    let prepare: @Sendable (TemporaryDirectory) throws -> Void
    let first: @Sendable (TemporaryDirectory) throws -> Void
    let second: @Sendable (TemporaryDirectory) throws -> Void
    var write = "t/x"
    let change: String

    static let all = [
      Interruption(
        testDescription: "a link to nothing, and then to a directory",
        prepare: { _ in }, first: { try $0.link("r", to: "t") },
        second: { try $0.makeDirectories("t") }, change: "created r/x"),
      Interruption(
        testDescription: "a link to nothing, and then to a file",
        prepare: { _ in }, first: { try $0.link("r", to: "t") },
        second: { try $0.write(to: "t") }, write: "t", change: "modified r"),
      Interruption(
        testDescription: "a link to a file, to nothing, and then to a directory",
        coverage: .named,
        prepare: {
          try $0.write(to: "t")
          try $0.link("r", to: "t")
        }, first: { try $0.remove("t") },
        second: { try $0.makeDirectories("t") }, change: "created r/x"),
      Interruption(
        testDescription: "a link to a directory, to nothing, and then to a file",
        prepare: {
          try $0.makeDirectories("t")
          try $0.link("r", to: "t")
        }, first: { try $0.remove("t") },
        second: { try $0.write(to: "t") }, write: "t", change: "modified r"),
      Interruption(
        testDescription: "a file, and then a link to a directory",
        coverage: .named,
        prepare: {
          try $0.makeDirectories("t")
          try $0.write(to: "r")
        }, first: { try $0.remove("r") },
        second: { try $0.link("r", to: "t") }, change: "created r/x"),
    ]
  }

  @Test(arguments: Interruption.all, [false, true])
  func `what a root becomes while it is looked up is followed`(
    interruption: Interruption, hasBase: Bool
  ) throws {
    var (count, isInterrupted) = (0, true)
    while isInterrupted {
      let disk = InterruptedDisk()
      let watched = try WatchedTree(
        [("r", interruption.coverage)], hasBase: hasBase, disk: disk, prepare: interruption.prepare)
      try interruption.first(watched.directory)
      disk.interrupt(afterCalls: count) { try? interruption.second(watched.directory) }
      _ = try watched.changes()
      isInterrupted = !disk.isWaiting
      if !isInterrupted { try interruption.second(watched.directory) }
      disk.interrupt(afterCalls: .max) {}
      _ = try watched.changes()
      if interruption.write == "t" {
        try watched.directory.append("x", to: "t")
      } else {
        try watched.directory.write(to: interruption.write)
      }
      #expect(try watched.changes() == [interruption.change], "after \(count) calls")
      count += 1
    }
    #expect(count > 5)
  }

  @Test(arguments: [false, true], 0..<6)
  func `a directory on the way to a root is gone and back while it is looked up`(
    hasBase: Bool, pause: Int
  ) throws {
    var (count, isInterrupted) = (0, true)
    while isInterrupted {
      isInterrupted = false
      let disk = InterruptedDisk()
      let watched = try WatchedTree([("a/b/r", .recursive)], hasBase: hasBase, disk: disk) {
        try $0.makeDirectories("a/b/r")
      }
      try watched.directory.remove("a")
      _ = try watched.changes()
      try watched.directory.makeDirectories("a")
      disk.interrupt(afterCalls: count) {
        isInterrupted = true
        try? watched.directory.remove("a")
        disk.interrupt(afterCalls: pause) { try? watched.directory.makeDirectories("a") }
      }
      _ = try watched.changes()
      disk.interrupt(afterCalls: .max) {}
      _ = try watched.changes()
      try watched.directory.makeDirectories("a/b/r")
      let changes = try watched.changes()
      #expect(changes == ["created a/b/r"], "after \(count) calls")
      count += 1
    }
    #expect(count > 3)
  }

  @Test func `a directory to which a followed link leads is back while that is looked up`() throws {
    var (count, isInterrupted) = (0, true)
    while isInterrupted {
      let disk = InterruptedDisk()
      let watched = try WatchedTree([("w", .recursive)], followsLinks: true, disk: disk) {
        try $0.makeDirectories("w")
        try $0.makeDirectories("d")
        try $0.link("w/l", to: "../d")
      }
      try watched.directory.rename("d", to: "other")
      disk.interrupt(afterCalls: count) { try? watched.directory.rename("other", to: "d") }
      _ = try watched.changes()
      isInterrupted = !disk.isWaiting
      if !isInterrupted { try watched.directory.rename("other", to: "d") }
      disk.interrupt(afterCalls: .max) {}
      _ = try watched.changes()
      try watched.directory.write(to: "d/x")
      #expect(try watched.changes() == ["created w/l/x"], "after \(count) calls")
      count += 1
    }
    #expect(count > 5)
  }
}

/// A disk on which something happens between two calls.
private final class InterruptedDisk: Disk {
  private var remaining = Int.max
  private var interruption = {}

  var isWaiting: Bool { remaining >= 0 }

  func interrupt(afterCalls count: Int, _ interruption: @escaping () -> Void) {
    (remaining, self.interruption) = (count, interruption)
  }

  private func count() {
    if remaining == 0 { interruption() }
    if remaining >= 0 { remaining -= 1 }
  }

  override func status(of path: Path, followsLinks: Bool) throws(SystemError) -> FileStatus {
    count()
    return try super.status(of: path, followsLinks: followsLinks)
  }

  override func linkTarget(of path: Path) throws(SystemError) -> Path {
    count()
    return try super.linkTarget(of: path)
  }
}

/// A root that is replaced again and again.
private final class ChangingRoot {
  private let place: String
  private let watched: WatchedTree
  private var kinds: [RootKindTests.Kind]
  private var count = 0

  init(_ kind: RootKindTests.Kind, at place: RootKindTests.Place) throws {
    self.place = place.name
    kinds = [kind]
    let isFound = kind.isDirectory || kind == .missing && place.name == "r"
    watched = try WatchedTree([("r", isFound ? .recursive : .named)], hasBase: place.hasBase) {
      try $0.write("f", to: "f")
      try $0.makeDirectories("d")
      if place.name != "r" { try $0.link("r", to: place.name) }
      try Self.make(kind, at: place.name, in: $0)
    }
  }

  private static func make(
    _ kind: RootKindTests.Kind, at name: String, in directory: TemporaryDirectory
  ) throws {
    switch kind {
    case .missing: break
    case .file: try directory.write("x", to: name)
    case .directory: try directory.makeDirectories(name)
    case .linkToFile: try directory.link(name, to: "f")
    case .linkToDirectory: try directory.link(name, to: "d")
    case .linkToNothing: try directory.link(name, to: "n")
    }
  }

  func replace(by other: RootKindTests.Kind) throws {
    if kinds.last != .missing { try watched.directory.remove(place) }
    kinds.append(other)
    try Self.make(other, at: place, in: watched.directory)
    _ = try watched.changes()
  }

  /// Writes wherever the root may lead, and compares what is reported.
  func check() throws {
    let kind = kinds.last
    try expect(kind == .linkToFile ? ["modified r"] : []) {
      try $0.append("x", to: "f")
    }
    count += 1
    try expect(kind == .linkToDirectory ? ["created r/\(count)"] : []) {
      try $0.write(to: "d/\(count)")
    }
    switch kind {
    case .file:
      try expect(["modified r"]) { try $0.append("x", to: place) }
    case .directory:
      try expect(["created r/f"]) { try $0.write(to: "\(place)/f") }
    case .linkToNothing:
      try watched.directory.makeDirectories("n")
      _ = try watched.changes()
      try expect(["created r/f"]) { try $0.write(to: "n/f") }
      try watched.directory.remove("n")
      _ = try watched.changes()
      try watched.directory.write("x", to: "n")
      _ = try watched.changes()
      try expect(["modified r"]) { try $0.append("x", to: "n") }
      try watched.directory.remove("n")
      _ = try watched.changes()
    case .missing, .linkToFile, .linkToDirectory, nil:
      break
    }
    #expect(try watched.kernelWatchCount() == watched.watchCount, "\(kinds)")
  }

  private func expect(
    _ changes: [String], after change: (TemporaryDirectory) throws -> Void
  ) throws {
    try change(watched.directory)
    #expect(try watched.changes() == changes, "\(kinds)")
  }
}

#endif  // os(Linux)
