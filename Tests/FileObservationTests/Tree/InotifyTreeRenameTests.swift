#if os(Linux)

import FileObservation
import SystemCalls
import TestSupport
import Testing

struct InotifyTreeRenameTests {
  private static func tree(_ folder: TemporaryDirectory) throws {
    try folder.makeDirectories("a/x/y")
    try folder.write(to: "a/x/y/f")
  }

  @Test func `after a folder's renames, what happens in it has its new path`() throws {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.folder.rename("a", to: "b")
    try watched.folder.rename("b", to: "c")
    #expect(try watched.news() == ["renamed c from a"])
    try watched.folder.append("x", to: "c/x/y/f")
    try watched.folder.write(to: "c/x/y/new")
    #expect(try watched.news() == ["created c/x/y/new", "modified c/x/y/f"])
    #expect(watched.watchCount == 4)
  }

  @Test func `a rename is followed though its folder is written to at once`() throws {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.folder.append("x", to: "a/x/y/f")
    try watched.folder.rename("a", to: "b")
    try watched.folder.write(to: "b/x/new")
    let news = try watched.news()
    #expect(news == ["created b/x/new", "modified b/x/y/f", "renamed b from a"])
  }

  @Test func `a folder that has moved out is not watched any more`() throws {
    let outside = try TemporaryDirectory()
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.folder.rename("a", to: "a", in: outside)
    #expect(
      try watched.news() == ["removed a", "removed a/x", "removed a/x/y", "removed a/x/y/f"])
    #expect(watched.watchCount == 1)
    #expect(try watched.kernelWatchCount() == 1)
    try outside.write(to: "a/x/leak")
    #expect(try watched.news() == [])
    try outside.rename("a", to: "a", in: watched.folder)
    #expect(
      try watched.news()
        == ["created a", "created a/x", "created a/x/leak", "created a/x/y", "created a/x/y/f"])
  }

  @Test func `a folder whose rename was not told is known by its new name when that is met`()
    throws
  {
    let watched = try WatchedTree(prepare: Self.tree)
    try watched.folder.rename("a", to: "b")
    try watched.folder.makeDirectories("a")
    try watched.loseEvents()
    try watched.listAgain()
    try watched.folder.append("x", to: "b/x/y/f")
    _ = try watched.news()
    try watched.folder.append("x", to: "b/x/y/f")
    try watched.folder.write(to: "a/new")
    #expect(try watched.news() == ["created a/new", "modified b/x/y/f"])
    #expect(try watched.kernelWatchCount() == 5)
  }

  @Test func `a folder that is moved into a folder of the tree is followed`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("other")
    }
    try watched.folder.rename("a/x", to: "other/z")
    #expect(try watched.news() == ["renamed other/z from a/x"])
    try watched.folder.append("x", to: "other/z/y/f")
    #expect(try watched.news() == ["modified other/z/y/f"])
  }

  @Test func `a folder that takes the place of an empty one is followed`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("empty")
    }
    try watched.folder.rename("a", to: "empty")
    #expect(try watched.news().contains { $0.hasSuffix(" empty") || $0.contains(" empty from a") })
    try watched.folder.append("x", to: "empty/x/y/f")
    #expect(try watched.news() == ["modified empty/x/y/f"])
    #expect(try watched.kernelWatchCount() == 4)
  }

  @Test func `two folders that changed places are watched under their new names`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.makeDirectories("b/x")
      try $0.write(to: "b/x/g")
    }
    try watched.folder.exchange("a", "b")
    #expect(try watched.news().isEmpty == false)
    try watched.folder.append("x", to: "a/x/g")
    #expect(try watched.news() == ["modified a/x/g"])
    try watched.folder.append("x", to: "b/x/y/f")
    #expect(try watched.news() == ["modified b/x/y/f"])
    #expect(watched.watchCount == 6)
    #expect(try watched.kernelWatchCount() == 6)
  }

  @Test func `a folder and a file that changed places are known for what they are`() throws {
    let watched = try WatchedTree {
      try Self.tree($0)
      try $0.write(to: "b")
    }
    try watched.folder.exchange("a", "b")
    _ = try watched.news()
    try watched.folder.append("x", to: "b/x/y/f")
    try watched.folder.append("x", to: "a")
    #expect(try watched.news() == ["modified a", "modified b/x/y/f"])
  }
}

#endif  // os(Linux)
