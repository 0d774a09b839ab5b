#if os(Linux)

import FileObservation
import SystemCalls
import TestSupport
import Testing

/// Ignore files that change while the tree is watched.
struct InotifyTreeRulesTests {
  @Test func `an ignore file takes effect when it is made, edited and removed`() throws {
    let watched = try WatchedTree { folder in
      try folder.makeDirectories("out/deep")
      try folder.makeDirectories("source")
    }
    #expect(watched.watchCount == 4)
    try watched.folder.write("out/\n", to: ".gitignore")
    #expect(try watched.news() == ["created .gitignore"])
    #expect(watched.watchCount == 2)
    try watched.folder.write(to: "out/deep/f")
    #expect(try watched.news() == [])

    try watched.folder.write("*.log\n", to: ".gitignore")
    #expect(try watched.news() == ["modified .gitignore"])
    #expect(watched.watchCount == 4)
    try watched.folder.write(to: "out/deep/f")
    try watched.folder.write(to: "out/f.log")
    #expect(try watched.news() == ["modified out/deep/f"])

    try watched.folder.remove(".gitignore")
    #expect(try watched.news() == ["removed .gitignore"])
    try watched.folder.write(to: "out/f.log")
    #expect(try watched.news() == ["modified out/f.log"])
    #expect(try watched.kernelWatchCount() == 4)
  }

  @Test func `rules above a root and in its repository take effect as well`() throws {
    let watched = try WatchedTree([("sub", .recursive)]) { folder in
      try folder.makeDirectories(".git/info")
      try folder.makeDirectories("sub/out")
    }
    try watched.folder.write("*.log\n", to: ".gitignore")
    try watched.folder.write("out/\n", to: ".git/info/exclude")
    #expect(try watched.news() == [], "they are no part of what is watched")
    try watched.folder.write(to: "sub/a.log")
    try watched.folder.write(to: "sub/out/f")
    try watched.folder.write(to: "sub/f")
    #expect(try watched.news() == ["created sub/f"])
    try watched.folder.remove(".git/info/exclude")
    #expect(try watched.news() == [])
    try watched.folder.write(to: "sub/out/f")
    #expect(try watched.news() == ["modified sub/out/f"])
  }

  @Test func `a nearer file brings back what one above ignores`() throws {
    let watched = try WatchedTree { folder in
      try folder.write("*.log\n", to: ".gitignore")
      try folder.makeDirectories("a")
    }
    try watched.folder.write("!keep.log\n", to: "a/.ignore")
    #expect(try watched.news() == ["created a/.ignore"])
    try watched.folder.write(to: "a/keep.log")
    try watched.folder.write(to: "a/other.log")
    #expect(try watched.news() == ["created a/keep.log"])
  }

  @Test func `an ignore file that cannot be read is told of once`() throws {
    let watched = try WatchedTree { try $0.link(".gitignore", to: "elsewhere") }
    try watched.folder.remove(".gitignore")
    try watched.folder.link(".gitignore", to: "elsewhere")
    _ = try watched.news()
    #expect(watched.warnings.map(\.code) == [.unreadableIgnoreFile])
    #expect(watched.warnings.map(\.path) == [watched.folder[".gitignore"]])
  }

  @Test func `a folder in which all is ignored is told of, and by which rule`() throws {
    let watched = try WatchedTree { folder in
      try folder.write("*\n", to: ".gitignore")
      try folder.write(to: "f")
    }
    #expect(watched.warnings.map(\.code) == [.everythingIgnored])
    #expect(watched.warnings.first?.description.contains(".gitignore:1:*") == true)
  }

  @Test func `a fresh repository is not told of`() throws {
    let watched = try WatchedTree { try $0.makeDirectories(".git/info") }
    #expect(watched.warnings.isEmpty)
  }

  @Test func `an ignored folder that may not be read, or is in the way, is no matter`() throws {
    let watched = try WatchedTree { folder in
      try folder.write("out/\n", to: ".gitignore")
      try folder.makeDirectories("out/closed")
      try folder.setMode(0, of: "out/closed")
    }
    #expect(watched.warnings.isEmpty)
    #expect(watched.watchCount == 1)
    try watched.folder.setMode(0o700, of: "out/closed")
  }
}

#endif  // os(Linux)
