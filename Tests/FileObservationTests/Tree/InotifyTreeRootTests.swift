#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

@Suite(.blocks)
struct InotifyTreeRootTests {
  @Test func `in a shallow root, only its own entries are reported`() throws {
    let watched = try WatchedTree([("", .entries)]) { try $0.makeDirectories("sub") }
    #expect(watched.watchCount == 1)
    try watched.directory.write(to: "sub/f")
    try watched.directory.write(to: "f")
    try watched.directory.makeDirectories("late")
    try watched.directory.write(to: "late/f")
    #expect(try watched.changes() == ["created f", "created late"])
  }

  @Test func `each of several hard links to a file is observed if they are roots`() throws {
    let watched = try WatchedTree([("f", .named), ("g", .named)]) {
      try $0.makeDirectories("other")
      try $0.write(to: "f")
      for name in ["g", "other/h"] { try File.link($0["f"], as: $0[name]) }
    }
    try watched.directory.append("1", to: "other/h")
    #expect(try watched.changes() == ["modified f", "modified g"])
    try watched.directory.append("2", to: "f")
    #expect(try watched.changes() == ["modified f", "modified g"])
    try watched.directory.remove("f")
    #expect(try watched.changes().contains("removed f"))
    #expect(try watched.kernelWatchCount() == watched.watchCount)
    try watched.directory.append("3", to: "other/h")
    #expect(try watched.changes() == ["modified g"])
    watched.remove("g")
    _ = try watched.changes()
    #expect(try watched.kernelWatchCount() == watched.watchCount)
  }

  @Test func `a single file is watched through any number of saves`() throws {
    let watched = try WatchedTree([("f", .named)]) { try $0.write(to: "f") }
    for _ in 0..<5 {
      try watched.directory.write(to: "t")
      try watched.directory.rename("t", to: "f")
      #expect(try watched.changes() == ["modified f"])
    }
    try watched.directory.rename("f", to: "f~")
    try watched.directory.write(to: "f")
    try watched.directory.remove("f~")
    #expect(try watched.changes() == ["modified f"])
    try watched.directory.write(to: "neighbour")
    #expect(try watched.changes() == [])
    try watched.directory.remove("f")
    #expect(try watched.changes() == ["removed f"])
    try watched.directory.write(to: "f")
    #expect(try watched.changes() == ["created f"])
  }

  @Test(arguments: [Coverage.named, .recursive])
  func `a root that changed before its first scan is reported though hints were read since`(
    coverage: Coverage
  ) throws {
    let since = FileTime.now()
    let watched = try WatchedTree([("f", coverage)], startsBeforePreparation: true) {
      try $0.write(to: "f")
    }
    #expect(try watched.changes() == [])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == ["created f"])
  }

  @Test func `a root that is removed and created again is watched again`() throws {
    let watched = try WatchedTree([("root", .recursive)]) { try $0.makeDirectories("root/sub") }
    for _ in 0..<3 {
      try watched.directory.remove("root")
      #expect(try watched.changes().contains("removed root"))
      try watched.directory.makeDirectories("root/sub")
      #expect(try watched.changes() == ["created root", "created root/sub"])
      try watched.directory.write(to: "root/sub/f")
      #expect(try watched.changes() == ["created root/sub/f"])
    }
  }

  @Test func `a root is awaited though a file is where its parent was`() throws {
    let watched = try WatchedTree([("b/c", .recursive)]) { try $0.makeDirectories("b/c") }
    try watched.directory.remove("b")
    try watched.directory.write(to: "b")
    #expect(try watched.changes() == ["removed b/c"])
    try watched.directory.remove("b")
    try watched.directory.makeDirectories("b/c")
    #expect(try watched.changes() == ["created b/c"])
    try watched.directory.write(to: "b/c/f")
    #expect(try watched.changes() == ["created b/c/f"])
  }

  @Test func `a file where the parent of a new root would be is there`() throws {
    let watched = try WatchedTree { try $0.write(to: "a") }
    watched.add("a/b", since: .now())
    try watched.directory.append("x", to: "a")
    #expect(try watched.changes() == ["modified a"])
    try watched.directory.remove("a")
    #expect(try watched.changes() == ["removed a"])
    try watched.directory.makeDirectories("a/b")
    try watched.directory.write(to: "a/b/f")
    #expect(try watched.changes() == ["created a", "created a/b", "created a/b/f"])
  }

  @Test func `a root is found where a file was replaced by a directory that is not entered`() throws
  {
    let watched = try WatchedTree([("", .entries)]) { try $0.write(to: "a") }
    watched.add("a/b", since: .now())
    #expect(try watched.changes() == [])
    try watched.directory.remove("a")
    try watched.directory.makeDirectories("a/b")
    #expect(try watched.changes() == ["created a/b", "modified a"])
    try watched.directory.write(to: "a/b/f")
    #expect(try watched.changes() == ["created a/b/f"])
  }

  @Test func `the directories around a root are watched only while it is missing`() throws {
    let watched = try WatchedTree([("a/b/root", .recursive)]) { try $0.makeDirectories("a") }
    try watched.directory.makeDirectories("a/b/root")
    #expect(try watched.changes() == ["created a/b/root"])
    #expect(try watched.kernelWatchCount() == 1 && watched.watchCount == 1)
    try watched.directory.remove("a/b")
    #expect(try watched.changes() == ["removed a/b/root"])
    try watched.directory.makeDirectories("a/b/root")
    #expect(try watched.changes() == ["created a/b/root"])
    #expect(try watched.kernelWatchCount() == 1)
  }

  @Test func `a root that is moved within another one is watched at its new path`() throws {
    let watched = try WatchedTree([("", .recursive), ("a", .recursive)]) {
      try $0.makeDirectories("a")
    }
    try watched.directory.makeDirectories("new")
    try watched.directory.rename("a", to: "new/a")
    _ = try watched.changes()
    try watched.directory.write(to: "new/a/f")
    #expect(try watched.changes() == ["created new/a/f"])
  }

  @Test func `a missing root is awaited though its ancestors are removed too`() throws {
    let watched = try WatchedTree([("a/b/root", .recursive)]) {
      try $0.makeDirectories("a/b/root")
    }
    try watched.directory.remove("a")
    #expect(try watched.changes() == ["removed a/b/root"])
    try watched.directory.makeDirectories("a")
    #expect(try watched.changes() == [])
    try watched.directory.makeDirectories("a/b")
    #expect(try watched.changes() == [])
    try watched.directory.makeDirectories("a/b/root")
    try watched.directory.write(to: "a/b/root/f")
    #expect(try watched.changes() == ["created a/b/root", "created a/b/root/f"])
  }

  @Test func `a root that is renamed is removed, and a directory in its place is watched`() throws {
    let watched = try WatchedTree([("root", .recursive)]) { try $0.makeDirectories("root/sub") }
    try watched.directory.rename("root", to: "away")
    #expect(try watched.changes() == ["removed root", "removed root/sub"])
    try watched.directory.write(to: "away/sub/f")
    #expect(try watched.changes() == [])
    try watched.directory.makeDirectories("root")
    try watched.directory.write(to: "root/f")
    #expect(try watched.changes() == ["created root", "created root/f"])
  }

  @Test(arguments: [Coverage.named, .recursive])
  func `a directory above a root is replaced, also while the root is missing`(coverage: Coverage)
    throws
  {
    let root = coverage == .named ? "a/b/c" : "a/b"
    let tree = try WatchedTree([(root, coverage)], hasBase: true) { directory in
      for name in ["a", "first", "third"] {
        try directory.makeDirectories("\(name)/b")
        try directory.write(name, to: "\(name)/b/c")
      }
      try directory.makeDirectories("second")
    }
    func replace(by name: String) throws -> [String] {
      try tree.directory.rename("a", to: "away from \(name)")
      try tree.directory.rename(name, to: "a")
      return try tree.changes()
    }
    #expect(try !replace(by: "first").isEmpty)
    try tree.directory.write("again", to: "a/b/c")
    #expect(try tree.changes() == ["modified a/b/c"])
    #expect(try replace(by: "second").contains("removed \(root)"))
    #expect(try replace(by: "third").contains("created \(root)"))
    try tree.directory.write("again", to: "a/b/c")
    #expect(try tree.changes() == ["modified a/b/c"])
    try tree.directory.setMode(0o711, of: "a")
    try tree.directory.write("x", to: "a/other")
    #expect(try tree.changes().isEmpty)
  }

  /// Each of what happens first, to a root at `a/b/c/f` or `a/b/c`, and then each directory that is
  /// replaced.
  @Test(arguments: ["a/b/c", "a/b/c/f"], ["rm a", "rm a/b", "rm a/b/c", "mv a", "mv a/b"])
  func `a directory above a root is replaced after the root has disappeared once`(
    root: String, first: String
  ) throws {
    for replaced in ["a", "a/b", "a/b/c"] {
      let tree = try WatchedTree([(root, root == "a/b/c" ? .recursive : .named)], hasBase: true) {
        try $0.makeDirectories("a/b/c")
        try $0.write(to: "a/b/c/f")
      }
      func makeAgain() throws {
        _ = try tree.changes()
        try tree.directory.makeDirectories("a/b/c")
        try tree.directory.write(to: "a/b/c/f")
        _ = try tree.changes()
      }
      let name = String(first.dropFirst(3))
      if first.hasPrefix("rm") {
        try tree.directory.remove(name)
      } else {
        try tree.directory.rename(name, to: "gone")
      }
      try makeAgain()
      try tree.directory.rename(replaced, to: "\(replaced)-old")
      try makeAgain()
      try tree.directory.append("x", to: "a/b/c/f")
      #expect(try tree.changes() == ["modified a/b/c/f"], "\(replaced)")
      let former = "\(replaced)-old" + "a/b/c/f".dropFirst(replaced.count)
      try tree.directory.append("x", to: former)
      #expect(try tree.changes() == [], "\(replaced)")
    }
  }

  @Test(arguments: [false, true])
  func `a link is pointed to a directory without the root behind it`(hasBase: Bool) throws {
    let tree = try WatchedTree([("l/c/f", .named)], hasBase: hasBase) {
      for name in ["a/b/c", "z"] { try $0.makeDirectories(name) }
      try $0.write(to: "a/b/c/f")
      try $0.link("l", to: "a/b")
    }
    try tree.directory.remove("a/b/c")
    #expect(try tree.changes() == ["removed l/c/f"])
    try tree.directory.link("next", to: "z")
    try tree.directory.rename("next", to: "l")
    #expect(try tree.changes() == [])
    try tree.directory.makeDirectories("z/c")
    #expect(try tree.changes() == [])
    try tree.directory.write(to: "z/c/f")
    #expect(try tree.changes() == ["created l/c/f"])
  }

  @Test(arguments: [false, true])
  func `a file that is watched at two paths is removed and created`(hasBase: Bool) throws {
    let tree = try WatchedTree([("l/c/f", .named), ("a/b/c/f", .named)], hasBase: hasBase) {
      try $0.makeDirectories("a/b/c")
      try $0.write(to: "a/b/c/f")
      try $0.link("l", to: "a/b")
    }
    try tree.directory.append("x", to: "a/b/c/f")
    #expect(try tree.changes() == ["modified a/b/c/f", "modified l/c/f"])
    try tree.directory.remove("a/b/c/f")
    #expect(try tree.changes() == ["removed a/b/c/f", "removed l/c/f"])
    try tree.directory.write(to: "a/b/c/f")
    #expect(try tree.changes() == ["created a/b/c/f", "created l/c/f"])
    try tree.directory.link("next", to: "nowhere")
    try tree.directory.rename("next", to: "l")
    #expect(try tree.changes() == ["removed l/c/f"])
    try tree.directory.append("x", to: "a/b/c/f")
    #expect(try tree.changes() == ["modified a/b/c/f"])
  }

  @Test func `the directory to which a link above a root leads is renamed`() throws {
    let tree = try WatchedTree([("a/l/c", .recursive)], hasBase: true) {
      try $0.makeDirectories("a/b/c")
      try $0.write(to: "a/b/c/f")
      try $0.link("a/l", to: "b")
    }
    try tree.directory.rename("a/b", to: "a/old")
    #expect(try tree.changes() == ["removed a/l/c", "removed a/l/c/f"])
    try tree.directory.makeDirectories("a/b/c")
    try tree.directory.write(to: "a/b/c/f")
    #expect(try tree.changes() == ["created a/l/c", "created a/l/c/f"])
  }

  @Test(arguments: [false, true])
  func `a directory behind a link is awaited where the link leads now`(hasBase: Bool) throws {
    let tree = try WatchedTree([("a/l/c", .recursive)], hasBase: hasBase) {
      try $0.makeDirectories("a/b/c")
      try $0.makeDirectories("z")
      try $0.link("a/l", to: "b")
    }
    try tree.directory.remove("a/b/c")
    #expect(try tree.changes() == ["removed a/l/c"])
    try tree.directory.link("next", to: "../z")
    try tree.directory.rename("next", to: "a/l")
    #expect(try tree.changes() == [])
    try tree.directory.makeDirectories("z/c")
    #expect(try tree.changes() == ["created a/l/c"])
    try tree.directory.write(to: "z/c/f")
    #expect(try tree.changes() == ["created a/l/c/f"])
  }

  @Test func `roots in each other are awaited when the directory above them is replaced`() throws {
    let tree = try WatchedTree([("a/b", .recursive), ("a/b/c", .recursive)], hasBase: true) {
      try $0.makeDirectories("a/b/c")
    }
    try tree.directory.remove("a/b/c")
    #expect(try tree.changes() == ["removed a/b/c"])
    try tree.directory.makeDirectories("a/b/c")
    #expect(try tree.changes() == ["created a/b/c"])
    try tree.directory.rename("a", to: "old")
    try tree.directory.makeDirectories("a")
    #expect(try tree.changes() == ["removed a/b", "removed a/b/c"])
    try tree.directory.makeDirectories("a/b/y")
    #expect(try tree.changes() == ["created a/b", "created a/b/y"])
    try tree.directory.makeDirectories("a/b/c")
    #expect(try tree.changes() == ["created a/b/c"])
    try tree.directory.write(to: "a/b/c/f")
    #expect(try tree.changes() == ["created a/b/c/f"])
  }

  @Test func `a directory with two paths is replaced by one that was in it`() throws {
    let tree = try WatchedTree(
      [("", .recursive), ("a/b/c", .recursive), ("l", .recursive)], hasBase: true
    ) {
      for name in ["a/b/c", "a/x"] { try $0.makeDirectories(name) }
      try $0.write(to: "a/b/c/f")
      try $0.link("l", to: "a/b")
    }
    try tree.directory.rename("a/b/c", to: "a/x")
    _ = try tree.changes()
    try tree.directory.rename("a/x", to: "a/b")
    try tree.directory.link("new", to: "a/b")
    try tree.directory.rename("new", to: "l")
    _ = try tree.changes()
    try tree.directory.append("x", to: "a/b/f")
    #expect(try tree.changes() == ["modified a/b/f", "modified l/f"])
  }

  @Test func `what was not found while a link above its root led elsewhere is found`() throws {
    let tree = try WatchedTree([("l/c", .recursive)], hasBase: true) {
      for name in ["a/c", "z"] { try $0.makeDirectories(name) }
      for name in ["a/c/f", "a/c/g"] { try $0.write(to: name) }
      try $0.link("l", to: "a")
    }
    func point(to target: String) throws {
      try tree.directory.link("next", to: target)
      try tree.directory.rename("next", to: "l")
    }
    try tree.directory.append("x", to: "a/c/f")
    try tree.readHints { try point(to: "z") }
    try point(to: "a")
    #expect(try tree.changes() == ["modified l/c/f"])
  }

  @Test func `a file in a new root to which a link leads is created under both paths`() throws {
    let tree = try WatchedTree([("m/x", .recursive), ("a", .named), ("y", .named)]) {
      try $0.makeDirectories("ready/x")
      try $0.write(to: "ready/x/f")
      for name in ["a", "y"] { try $0.link(name, to: "m/x/f") }
    }
    try tree.directory.rename("ready", to: "m")
    #expect(
      try tree.changes() == ["created m/x", "created m/x/f", "modified a", "modified y"])
    try tree.directory.append("x", to: "m/x/f")
    #expect(try tree.changes() == ["modified a", "modified m/x/f", "modified y"])
  }

  @Test func `a root is awaited where a file is that was a root`() throws {
    let tree = try WatchedTree([("a", .named), ("a/b", .recursive)]) { try $0.write(to: "a") }
    tree.remove("a")
    #expect(try tree.changes() == [])
    try tree.directory.remove("a")
    try tree.directory.makeDirectories("a/b")
    #expect(try tree.changes() == ["created a/b"])
  }

  @Test func `a root that is removed leaves others alone`() throws {
    let disk = CountingDisk()
    let names = (0..<20).map { "d\($0)" }
    let tree = try WatchedTree(names.map { ($0, .recursive) }, hasBase: true, disk: disk) {
      for name in names { try $0.makeDirectories(name) }
    }
    disk.linkCount = 0
    tree.remove("d0")
    #expect(try tree.changes() == [])
    #expect(disk.linkCount < names.count)
    try tree.directory.write(to: "d1/f")
    #expect(try tree.changes() == ["created d1/f"])
  }

  @Test func `a link in a circle is followed when another one is pointed elsewhere`() throws {
    let tree = try WatchedTree([("r", .recursive)]) {
      try $0.makeDirectories("d")
      try $0.link("r", to: "l")
      try $0.link("l", to: "r")
    }
    try tree.directory.link("next", to: "d")
    try tree.directory.rename("next", to: "l")
    #expect(try tree.changes() == ["created r"])
    try tree.directory.write(to: "d/f")
    #expect(try tree.changes() == ["created r/f"])
  }

  /// The kernel reports the removal of a directory only when no process has it open, or as its
  /// current directory.
  @Test func `a root that a process holds is found to be removed, and to be back`() throws {
    let watched = try WatchedTree([("root", .recursive)]) {
      try $0.makeDirectories("root")
      try $0.write(to: "root/f")
    }
    let held = try Descriptor.open(watched.directory["root"], O_RDONLY | O_DIRECTORY)
    try watched.directory.remove("root")
    #expect(try watched.changes() == ["removed root", "removed root/f"])
    try watched.directory.makeDirectories("root")
    try watched.directory.write(to: "root/f")
    #expect(try watched.changes() == ["created root", "created root/f"])
    _ = held.number
  }

  @Test func `with nested roots, each change is reported once`() throws {
    let roots = [("", Coverage.recursive), ("sub", .recursive), ("sub/f", .named)]
    let watched = try WatchedTree(roots) {
      try $0.makeDirectories("sub")
      try $0.write(to: "sub/f")
    }
    #expect(watched.watchCount == 3, "a root that is a file has a watch of its own")
    try watched.directory.append("x", to: "sub/f")
    #expect(try watched.rawEvents().filter { $0.kind == .modified(isOpen: false) }.count == 1)
    try watched.directory.write(to: "sub/g")
    #expect(try watched.changes() == ["created sub/g"])
  }

  @Test(arguments: [false, true])
  func `a file that is a root in another root takes nothing from it`(
    isFileFirst: Bool
  ) throws {
    let roots = [("", Coverage.recursive), ("sub/f", .named)]
    let watched = try WatchedTree(isFileFirst ? roots.reversed() : roots) {
      try $0.makeDirectories("sub/deep")
      try $0.write(to: "sub/f")
    }
    #expect(watched.watchCount == 4)
    try watched.directory.append("x", to: "sub/f")
    try watched.directory.write(to: "sub/g")
    try watched.directory.write(to: "sub/deep/h")
    #expect(try watched.changes() == ["created sub/deep/h", "created sub/g", "modified sub/f"])
  }

  @Test func `a shallow root in a recursive one takes nothing from it`() throws {
    let watched = try WatchedTree([("sub", .entries), ("", .recursive)]) {
      try $0.makeDirectories("sub/deep")
    }
    try watched.directory.write(to: "sub/deep/f")
    #expect(try watched.changes() == ["created sub/deep/f"])
  }

  @Test func `when a directory with a root in it is moved out, changes elsewhere are not reported`()
    throws
  {
    let outside = try TemporaryDirectory()
    let watched = try WatchedTree([("", .recursive), ("a/root", .recursive)]) {
      try $0.makeDirectories("a/root")
    }
    try watched.directory.rename("a", to: "a", in: outside)
    var changes = try watched.changes()
    changes += try watched.changes()
    let others = changes.filter { $0 != "removed a" && $0 != "removed a/root" }.count
    #expect(others == 0)
    #expect(try watched.kernelWatchCount() == 1)
  }

  @Test func `a directory that is created again around a root is watched as before`() throws {
    let watched = try WatchedTree([("", .recursive), ("a/root", .recursive)]) {
      try $0.makeDirectories("a/root")
      try $0.makeDirectories("a/other")
    }
    try watched.directory.remove("a")
    #expect(try watched.changes() == ["removed a", "removed a/other", "removed a/root"])
    try watched.directory.makeDirectories("a")
    #expect(try watched.changes() == ["created a"])
    try watched.directory.makeDirectories("a/other")
    try watched.directory.makeDirectories("a/root")
    #expect(try watched.changes() == ["created a/other", "created a/root"])
    try watched.directory.write(to: "a/other/f")
    try watched.directory.write(to: "a/root/f")
    #expect(try watched.changes() == ["created a/other/f", "created a/root/f"])
  }

  @Test func `a root that appears while hints are dropped is found`() throws {
    let watched = try WatchedTree([("a", .recursive), ("b", .recursive), ("c/d/f", .named)]) {
      for name in ["a", "b", "c/d"] { try $0.makeDirectories(name) }
      try $0.write(to: "c/d/f")
    }
    try watched.directory.remove("b")
    try watched.directory.remove("c")
    #expect(try watched.changes() == ["removed b", "removed c/d/f"])
    try watched.directory.makeDirectories("b")
    try watched.directory.makeDirectories("c/d")
    try watched.directory.write(to: "c/d/f")
    try watched.dropHints()
    watched.rescan()
    #expect(try watched.changes() == ["created b", "created c/d/f"])
    try watched.directory.write(to: "b/f")
    try watched.directory.append("x", to: "c/d/f")
    #expect(try watched.changes() == ["created b/f", "modified c/d/f"])
  }

  @Test func `a root is awaited though the hints of the removal of its parents were dropped`()
    throws
  {
    let watched = try WatchedTree([("a/b/r", .recursive)]) { try $0.makeDirectories("a/b/r") }
    try watched.directory.remove("a/b/r")
    #expect(try watched.changes() == ["removed a/b/r"])
    try watched.directory.remove("a")
    try watched.dropHints()
    watched.rescan()
    #expect(try watched.changes() == [])
    try watched.directory.makeDirectories("a/b/r")
    #expect(try watched.changes() == ["created a/b/r"])
  }

  @Test func `a root that is replaced while hints are dropped leaves no watch behind`() throws {
    let watched = try WatchedTree([("r", .recursive)]) { try $0.makeDirectories("r") }
    for _ in 0..<3 {
      try watched.directory.rename("r", to: "away")
      try watched.directory.makeDirectories("r")
      try watched.dropHints()
      watched.rescan()
      _ = try watched.changes()
      #expect(try watched.kernelWatchCount() == watched.watchCount)
      try watched.directory.remove("away")
      _ = try watched.changes()
    }
  }
}

#endif  // os(Linux)
