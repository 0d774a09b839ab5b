#if os(Linux)

import Dispatch
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// What links lead to, as they and their targets change.
@Suite(.blocks)
struct InotifyTreeLinkTests {
  @Test(arguments: [false, true])
  func `a root behind a dangling link is found when the target is made`(isObserved: Bool) throws {
    let roots: [(String, Coverage)] =
      isObserved ? [("w", .recursive), ("w/build/gen", .recursive)] : [("w/build/gen", .recursive)]
    let watched = try WatchedTree(roots) {
      try $0.makeDirectories("w")
      try $0.link("w/build", to: "../out/Debug")
    }
    try watched.directory.makeDirectories("out/Debug/gen")
    #expect(try watched.changes() == ["created w/build/gen"])
    try watched.directory.write(to: "out/Debug/gen/f")
    #expect(try watched.changes() == ["created w/build/gen/f"])
  }

  @Test(arguments: [false, true])
  func `a file behind a link is back together with its directory`(isFollowed: Bool) throws {
    let watched = try WatchedTree(
      isFollowed ? [("d", .recursive)] : [("d/l", .named)], followsLinks: isFollowed
    ) {
      try $0.makeDirectories("d")
      try $0.makeDirectories("real")
      try $0.write(to: "real/t")
      try $0.link("d/l", to: "../real/t")
    }
    try watched.directory.rename("real", to: "other")
    #expect(try watched.changes() == ["modified d/l"])
    try watched.directory.write("new", to: "other/t")
    #expect(try watched.changes() == [])
    try watched.directory.rename("other", to: "real")
    #expect(try watched.changes() == ["modified d/l"])
    try watched.directory.write("newer", to: "real/t")
    #expect(try watched.changes() == ["modified d/l"])
  }

  @Test func `a link into a directory that does not exist is looked up twice at most`() throws {
    let disk = CountingDisk()
    let watched = try WatchedTree([("w", .recursive)], followsLinks: true, disk: disk) {
      try $0.makeDirectories("w/tools")
      try $0.link("w/tools/x", to: "../missing/tools/x.js")
    }
    #expect(disk.linkCount < 40)
    try watched.directory.makeDirectories("w/missing/tools")
    _ = try watched.changes()
    try watched.directory.write(to: "w/missing/tools/x.js")
    #expect(try watched.changes().contains("created w/missing/tools/x.js"))
  }

  @Test func `a followed link that is excluded is not reported, though a root is behind it`() throws
  {
    let watched = try WatchedTree(
      [("w", .recursive), ("w/a/l/sub", .recursive)], followsLinks: true
    ) {
      for name in ["w/a", "d/sub", "e/sub"] { try $0.makeDirectories(name) }
      try $0.link("m", to: "d")
      try $0.link("w/a/l", to: "../../m")
    }
    try watched.directory.write("a/\n", to: "w/.gitignore")
    #expect(try watched.changes().contains("created w/.gitignore"))
    _ = try watched.changes()
    try watched.directory.link("next", to: "e")
    try watched.directory.rename("next", to: "m")
    #expect(try watched.changes().contains("modified w/a/l") == false)
    try watched.directory.write(to: "e/sub/f")
    #expect(try watched.changes() == ["created w/a/l/sub/f"])
  }

  @Test func `a link to a file that is observed by its extension adds nothing`() throws {
    let watched = try WatchedTree(followsLinks: true, extensions: ["swift"]) {
      try $0.write(to: "b.swift")
      try $0.link("a.swift", to: "b.swift")
    }
    try watched.directory.write("1", to: "b.swift")
    #expect(try watched.changes() == ["modified b.swift"])
    try watched.directory.rename("b.swift", to: "c.swift")
    #expect(try watched.changes() == ["renamed c.swift from b.swift"])
  }

  @Test func `a directory above a missing root is replaced by one with the root`() throws {
    let watched = try WatchedTree([("a/b/c/x", .recursive)], hasBase: true) {
      try $0.makeDirectories("a/b")
      try $0.makeDirectories("new/b/c/x")
    }
    try watched.directory.rename("a", to: "old")
    try watched.directory.rename("new", to: "a")
    #expect(try watched.changes() == ["created a/b/c/x"])
    try watched.directory.write(to: "a/b/c/x/f")
    #expect(try watched.changes() == ["created a/b/c/x/f"])
  }

  @Test func `a watched link that is replaced by a file has no target any more`() throws {
    let watched = try WatchedTree([("l", .named)]) {
      try $0.write(to: "t")
      try $0.link("l", to: "t")
    }
    try watched.directory.write("1", to: "t")
    #expect(try watched.changes() == ["modified l"])
    try watched.directory.write(to: "new")
    try watched.directory.rename("new", to: "l")
    #expect(try watched.changes() == ["modified l"])
    try watched.directory.write("2", to: "t")
    #expect(try watched.changes() == [])
    try watched.directory.remove("l")
    try watched.directory.write("3", to: "t")
    #expect(try watched.changes() == ["removed l"])
  }

  @Test func `a followed link that is replaced by a file takes what was in it`() throws {
    let watched = try WatchedTree([("w", .recursive)], followsLinks: true) {
      try $0.makeDirectories("w")
      try $0.makeDirectories("d")
      try $0.write(to: "d/x")
      try $0.link("w/l", to: "../d")
    }
    let count = watched.watchCount
    try watched.directory.write(to: "w/new")
    try watched.directory.rename("w/new", to: "w/l")
    #expect(try watched.changes().contains("removed w/l/x"))
    try watched.directory.write("1", to: "d/x")
    #expect(try watched.changes() == [])
    #expect(watched.watchCount < count)
  }

  @Test func `a followed link that is ignored is left`() throws {
    let watched = try WatchedTree([("w", .recursive)], followsLinks: true) {
      try $0.makeDirectories("w")
      try $0.makeDirectories("d")
      try $0.link("w/l", to: "../d")
    }
    try watched.directory.write("l\n", to: "w/.gitignore")
    #expect(try watched.changes() == ["created w/.gitignore"])
    try watched.directory.write(to: "d/x")
    #expect(try watched.changes() == [])
  }

  @Test func `a link whose target is ignored now is still followed to it`() throws {
    let watched = try WatchedTree([("r", .recursive)]) {
      try $0.makeDirectories("r/sub")
      try $0.write(to: "r/sub/f")
      try $0.link("l", to: "r/sub/f")
    }
    watched.add("l", .named, since: .latest())
    try watched.directory.write("sub/\n", to: "r/.gitignore")
    #expect(try watched.changes() == ["created r/.gitignore"])
    #expect(try watched.changes() == [])
    try watched.directory.write("1", to: "r/sub/f")
    #expect(try watched.changes() == ["modified l"])
  }

  @Test func `a link is still watched when a root that held its target is none any more`() throws {
    let watched = try WatchedTree([("r", .recursive)]) {
      try $0.makeDirectories("r")
      try $0.write(to: "r/f")
      try $0.link("l", to: "r/f")
    }
    watched.add("l", .named, since: .latest())
    watched.remove("r")
    #expect(try watched.changes() == [])
    try watched.directory.write("1", to: "r/f")
    #expect(try watched.changes() == ["modified l"])
  }

  @Test func `a link to a directory is no root any more, and nothing is removed`() throws {
    let watched = try WatchedTree([("r", .recursive), ("r/l", .recursive)]) {
      try $0.makeDirectories("r")
      try $0.makeDirectories("d")
      try $0.write(to: "d/f")
      try $0.link("r/l", to: "../d")
    }
    watched.remove("r/l")
    #expect(try watched.changes() == [])
    try watched.directory.write("1", to: "d/f")
    #expect(try watched.changes() == [])
    try watched.directory.write("1", to: "r/g")
    #expect(try watched.changes() == ["created r/g"])
  }

  @Test func `a file that is a root is a directory when it is back, and is entered`() throws {
    let watched = try WatchedTree([("p/f", .named)]) {
      try $0.makeDirectories("p")
      try $0.write(to: "p/f")
    }
    try watched.directory.remove("p")
    try watched.directory.makeDirectories("p/f")
    try watched.directory.write(to: "p/f/x")
    _ = try watched.changes()
    try watched.directory.write("1", to: "p/f/x")
    #expect(try watched.changes() == ["modified p/f/x"])
  }

  @Test func `a watch that only the second name of a directory was given is that of the first`()
    throws
  {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("w/d")
    try directory.link("w/l", to: "d")
    let hints = try LimitedHints(refusing: directory["w/d"])
    var tree = ObservedTree(filter: PathFilter(), source: hints, followsLinks: true)
    tree.add(.init(path: directory["w"], coverage: .recursive))
    while tree.scanPending(until: { true }) {}
    tree.walk.isComparedOnce = true
    for _ in 0..<4 { try tree.readHints() }
    _ = tree.takeFindings()
    let count = hints.callCount
    for _ in 0..<4 { try tree.readHints() }
    #expect(hints.callCount == count)
    #expect(tree.directories.unwatched.isEmpty)
    try directory.write(to: "w/d/f")
    try tree.readHints()
    #expect(Set(tree.takeFindings().events.map(\.path)) == [directory["w/d/f"]])
  }

  @Test func `the root of the file system may be removed, and others stay`() throws {
    let watched = try WatchedTree([("w", .recursive)]) { try $0.makeDirectories("w") }
    watched.addAndRemoveFileSystem()
    try watched.directory.write(to: "w/f")
    #expect(try watched.changes() == ["created w/f"])
  }

  @Test func `the rules of a directory are read once, however often it is compared`() throws {
    let watched = try WatchedTree {
      try $0.makeDirectories("p")
      try $0.write("x\n", to: "p/.gitignore")
    }
    for _ in 0..<3 { watched.lookForTheSecondTime(since: .now()) }
    #expect(watched.ignoreFileCount(of: "p") == 1)
  }
}

/// Hints of inotify, which has no watch for a path, as at the watch limit.
private final class LimitedHints: HintSource {
  private let hints: InotifyHints
  private let refused: Path
  private(set) var callCount = 0

  init(refusing refused: Path) throws {
    hints = InotifyHints(try Inotify())
    self.refused = refused
  }

  var name: String { hints.name }
  var namesEntries: Bool { hints.namesEntries }
  var settlingTime: Duration { hints.settlingTime }
  var queueLimit: Int? { hints.queueLimit }

  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void) {}
  func rearm() {}
  func stop() { hints.stop() }

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    callCount += 1
    if Path(cString: path) == refused { throw SystemError(call: "watch", code: ENOSPC) }
    return try hints.watch(path, subject)
  }

  func unwatch(_ watch: Int32) { hints.unwatch(watch) }

  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime { try hints.read(body) }
}

#endif  // os(Linux)
