#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

@Suite(.blocks)
struct InotifyTreeRenameTests {
  private static func tree(_ directory: TemporaryDirectory) throws {
    try directory.makeDirectories("a/x/y")
    try directory.write(to: "a/x/y/f")
  }

  @Test func `changes in a renamed directory are reported under its new path`() throws {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.directory.rename("a", to: "b")
    try watched.directory.rename("b", to: "c")
    #expect(try watched.changes() == ["renamed c from a"])
    try watched.directory.append("x", to: "c/x/y/f")
    try watched.directory.write(to: "c/x/y/new")
    #expect(try watched.changes() == ["created c/x/y/new", "modified c/x/y/f"])
    #expect(watched.watchCount == 4)
  }

  @Test func `a rename is followed though the directory is written to at once`() throws {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.directory.append("x", to: "a/x/y/f")
    try watched.directory.rename("a", to: "b")
    try watched.directory.write(to: "b/x/new")
    let changes = try watched.changes()
    #expect(changes == ["created b/x/new", "modified b/x/y/f", "renamed b from a"])
  }

  /// Most file systems give the inode of a removed file to the next new one.
  @Test(arguments: ["", "removed", "renamed"])
  func `a file that is replaced twice by renames is another one, though with its inode`(
    then fate: String
  ) throws {
    let names = (0..<20).map { "f\($0)" }
    let watched = try WatchedTree { directory in
      for name in names { try directory.write(to: name) }
    }
    let directory = watched.directory
    for name in names {
      for _ in 0..<2 {
        try directory.write("new", to: "draft")
        try directory.rename("draft", to: name)
      }
      try watched.readHints {}
      if fate == "removed" { try directory.remove(name) }
      if fate == "renamed" { try directory.rename(name, to: name + "-new") }
    }
    let changes = try watched.changes()
    let former = changes.filter { names.contains(String($0.drop { $0 != " " }.dropFirst())) }
    #expect(former == names.map { (fate.isEmpty ? "modified " : "removed ") + $0 }.sorted())
  }

  @Test func `a directory that is renamed during the first comparison is renamed`() throws {
    let start = FileTime.now()
    let watched = try WatchedTree { try $0.makeDirectories("a/x/y") }
    let end = FileTime.latest()
    while FileTime.now() <= end {}
    try watched.directory.rename("a", to: "b")
    try watched.directory.write(to: "f")
    watched.lookForTheSecondTime(since: start, until: end)
    #expect(try watched.changes() == ["created f", "renamed b from a"])
  }

  @Test func `a file that leaves a renamed directory before it is scanned is renamed`() throws {
    let watched = try WatchedTree {
      try $0.makeDirectories("d")
      try $0.write(to: "d/f")
    }
    try watched.directory.rename("d", to: "e")
    try watched.readHints { try watched.directory.rename("e/f", to: "g") }
    #expect(try watched.changes() == ["renamed e from d", "renamed g from d/f"])
  }

  @Test func `a directory that was moved out is no longer watched`() throws {
    let outside = try TemporaryDirectory()
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.directory.rename("a", to: "a", in: outside)
    #expect(
      try watched.changes() == ["removed a", "removed a/x", "removed a/x/y", "removed a/x/y/f"])
    #expect(watched.watchCount == 1)
    #expect(try watched.kernelWatchCount() == 1)
    try outside.write(to: "a/x/leak")
    #expect(try watched.changes() == [])
    try outside.rename("a", to: "a", in: watched.directory)
    #expect(
      try watched.changes()
        == ["created a", "created a/x", "created a/x/leak", "created a/x/y", "created a/x/y/f"])
  }

  @Test func `a directory whose rename had no hint is known by its new name once it is found`()
    throws
  {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.directory.rename("a", to: "b")
    try watched.directory.makeDirectories("a")
    try watched.loseEvents()
    try watched.listAgain()
    try watched.directory.append("x", to: "b/x/y/f")
    _ = try watched.changes()
    try watched.directory.append("x", to: "b/x/y/f")
    try watched.directory.write(to: "a/new")
    #expect(try watched.changes() == ["created a/new", "modified b/x/y/f"])
    #expect(try watched.kernelWatchCount() == 5)
  }

  @Test func `a directory that is moved into another directory is followed`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("other")
    }
    try watched.directory.rename("a/x", to: "other/z")
    #expect(try watched.changes() == ["renamed other/z from a/x"])
    try watched.directory.append("x", to: "other/z/y/f")
    #expect(try watched.changes() == ["modified other/z/y/f"])
  }

  @Test func `a directory that replaces an empty one is followed`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("empty")
    }
    try watched.directory.rename("a", to: "empty")
    #expect(
      try watched.changes().contains { $0.hasSuffix(" empty") || $0.contains(" empty from a") })
    try watched.directory.append("x", to: "empty/x/y/f")
    #expect(try watched.changes() == ["modified empty/x/y/f"])
    #expect(try watched.kernelWatchCount() == 4)
  }

  @Test func `two directories that exchanged their names are watched under the new ones`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("b/x")
      try $0.write(to: "b/x/g")
    }
    try watched.directory.exchange("a", "b")
    #expect(try watched.changes().isEmpty == false)
    try watched.directory.append("x", to: "a/x/g")
    #expect(try watched.changes() == ["modified a/x/g"])
    try watched.directory.append("x", to: "b/x/y/f")
    #expect(try watched.changes() == ["modified b/x/y/f"])
    #expect(watched.watchCount == 6)
    #expect(try watched.kernelWatchCount() == 6)
  }

  @Test func `a directory and a file that exchanged their names are known by their types`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.write(to: "b")
    }
    try watched.directory.exchange("a", "b")
    _ = try watched.changes()
    try watched.directory.append("x", to: "b/x/y/f")
    try watched.directory.append("x", to: "a")
    #expect(try watched.changes() == ["modified a", "modified b/x/y/f"])
  }
}

#endif  // os(Linux)
