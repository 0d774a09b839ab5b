#if os(Linux)

import FileObservation
import SystemCalls
import TestSupport
import Testing

struct InotifyTreeRootTests {
  @Test func `of a shallow root, only its own entries count`() throws {
    let watched = try WatchedTree([("", .entries)]) { try $0.makeDirectories("sub") }
    #expect(watched.watchCount == 1)
    try watched.folder.write(to: "sub/f")
    try watched.folder.write(to: "f")
    try watched.folder.makeDirectories("late")
    try watched.folder.write(to: "late/f")
    #expect(try watched.news() == ["created f", "created late"])
  }

  @Test func `a single file is watched through any number of saves`() throws {
    let watched = try WatchedTree([("f", .named)]) { try $0.write(to: "f") }
    for _ in 0..<5 {
      try watched.folder.write(to: "t")
      try watched.folder.rename("t", to: "f")
      #expect(try watched.news() == ["modified f"])
    }
    try watched.folder.rename("f", to: "f~")
    try watched.folder.write(to: "f")
    try watched.folder.remove("f~")
    #expect(try watched.news() == ["modified f"])
    try watched.folder.write(to: "neighbour")
    #expect(try watched.news() == [])
    try watched.folder.remove("f")
    #expect(try watched.news() == ["removed f"])
    try watched.folder.write(to: "f")
    #expect(try watched.news() == ["created f"])
  }

  @Test(arguments: [Coverage.named, .recursive])
  func `a root that changed before its first scan is reported though hints were read since`(
    coverage: Coverage
  ) throws {
    let since = FileTime.now()
    let watched = try WatchedTree([("f", coverage)]) { try $0.write(to: "f") }
    #expect(try watched.news() == [])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == ["created f"])
  }

  @Test func `a root that is removed and made again is watched again`() throws {
    let watched = try WatchedTree([("root", .recursive)]) { try $0.makeDirectories("root/sub") }
    for _ in 0..<3 {
      try watched.folder.remove("root")
      #expect(try watched.news().contains("removed root"))
      try watched.folder.makeDirectories("root/sub")
      #expect(try watched.news() == ["created root", "created root/sub"])
      try watched.folder.write(to: "root/sub/f")
      #expect(try watched.news() == ["created root/sub/f"])
    }
  }

  @Test func `a root is waited for though the folders above it go as well`() throws {
    let watched = try WatchedTree([("a/b/root", .recursive)]) {
      try $0.makeDirectories("a/b/root")
    }
    try watched.folder.remove("a")
    #expect(try watched.news() == ["removed a/b/root"])
    try watched.folder.makeDirectories("a")
    #expect(try watched.news() == [])
    try watched.folder.makeDirectories("a/b")
    #expect(try watched.news() == [])
    try watched.folder.makeDirectories("a/b/root")
    try watched.folder.write(to: "a/b/root/f")
    #expect(try watched.news() == ["created a/b/root", "created a/b/root/f"])
  }

  @Test func `a root that is renamed away is gone, and its like in its place is watched`() throws {
    let watched = try WatchedTree([("root", .recursive)]) { try $0.makeDirectories("root/sub") }
    try watched.folder.rename("root", to: "away")
    #expect(try watched.news() == ["removed root", "removed root/sub"])
    try watched.folder.write(to: "away/sub/f")
    #expect(try watched.news() == [])
    try watched.folder.makeDirectories("root")
    try watched.folder.write(to: "root/f")
    #expect(try watched.news() == ["created root", "created root/f"])
  }

  @Test func `of roots within each other, each change is told of once`() throws {
    let roots = [("", Coverage.recursive), ("sub", .recursive), ("sub/f", .named)]
    let watched = try WatchedTree(roots) {
      try $0.makeDirectories("sub")
      try $0.write(to: "sub/f")
    }
    #expect(watched.watchCount == 3, "a root that is a file has a watch of its own")
    try watched.folder.append("x", to: "sub/f")
    #expect(try watched.rawEvents().filter { $0.kind == .modified(isOpen: false) }.count == 1)
    try watched.folder.write(to: "sub/g")
    #expect(try watched.news() == ["created sub/g"])
  }

  @Test(arguments: [false, true])
  func `a file that is named beside the folder around it takes nothing from that`(
    isFileFirst: Bool
  ) throws {
    let roots = [("", Coverage.recursive), ("sub/f", .named)]
    let watched = try WatchedTree(isFileFirst ? roots.reversed() : roots) {
      try $0.makeDirectories("sub/deep")
      try $0.write(to: "sub/f")
    }
    #expect(watched.watchCount == 4)
    try watched.folder.append("x", to: "sub/f")
    try watched.folder.write(to: "sub/g")
    try watched.folder.write(to: "sub/deep/h")
    #expect(try watched.news() == ["created sub/deep/h", "created sub/g", "modified sub/f"])
  }

  @Test func `a shallow root within a recursive one does not take anything from it`() throws {
    let watched = try WatchedTree([("sub", .entries), ("", .recursive)]) {
      try $0.makeDirectories("sub/deep")
    }
    try watched.folder.write(to: "sub/deep/f")
    #expect(try watched.news() == ["created sub/deep/f"])
  }

  @Test func `when a folder with a root in it moves out, nothing is told of other places`() throws {
    let outside = try TemporaryDirectory()
    let watched = try WatchedTree([("", .recursive), ("a/root", .recursive)]) {
      try $0.makeDirectories("a/root")
    }
    try watched.folder.rename("a", to: "a", in: outside)
    var news = try watched.news()
    news += try watched.news()
    let others = news.filter { $0 != "removed a" && $0 != "removed a/root" }.count
    #expect(others == 0)
    #expect(try watched.kernelWatchCount() == 1)
  }

  @Test func `a folder that is made again around a root is watched as before`() throws {
    let watched = try WatchedTree([("", .recursive), ("a/root", .recursive)]) {
      try $0.makeDirectories("a/root")
      try $0.makeDirectories("a/other")
    }
    try watched.folder.remove("a")
    #expect(try watched.news() == ["removed a", "removed a/other", "removed a/root"])
    try watched.folder.makeDirectories("a")
    #expect(try watched.news() == ["created a"])
    try watched.folder.makeDirectories("a/other")
    try watched.folder.makeDirectories("a/root")
    #expect(try watched.news() == ["created a/other", "created a/root"])
    try watched.folder.write(to: "a/other/f")
    try watched.folder.write(to: "a/root/f")
    #expect(try watched.news() == ["created a/other/f", "created a/root/f"])
  }
}

#endif  // os(Linux)
