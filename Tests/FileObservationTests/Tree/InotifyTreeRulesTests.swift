#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Ignore files that change while the tree is observed.
@Suite(.blocks)
struct InotifyTreeRulesTests {
  @Test func `an ignore file takes effect when it is created, edited and removed`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("out/deep")
      try directory.makeDirectories("source")
    }
    #expect(watched.watchCount == 4)
    try watched.directory.write("out/\n", to: ".gitignore")
    #expect(try watched.changes() == ["created .gitignore"])
    #expect(watched.watchCount == 2)
    try watched.directory.write(to: "out/deep/f")
    #expect(try watched.changes() == [])

    try watched.directory.write("*.log\n", to: ".gitignore")
    #expect(try watched.changes() == ["modified .gitignore"])
    #expect(watched.watchCount == 4)
    try watched.directory.write(to: "out/deep/f")
    try watched.directory.write(to: "out/f.log")
    #expect(try watched.changes() == ["modified out/deep/f"])

    try watched.directory.remove(".gitignore")
    #expect(try watched.changes() == ["removed .gitignore"])
    try watched.directory.write(to: "out/f.log")
    #expect(try watched.changes() == ["modified out/f.log"])
    #expect(try watched.kernelWatchCount() == 4)
  }

  @Test func `a directory coverage is ignored as soon as it holds a report, and as long`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("coverage/src")
    }
    try watched.directory.write(to: "coverage/a.c")
    #expect(try watched.changes() == ["created coverage/a.c"])
    #expect(watched.watchCount == 3)
    try watched.directory.write(to: "coverage/index.html")
    try watched.directory.write(to: "coverage/clover.xml")
    _ = try watched.changes()
    #expect(watched.watchCount == 2)
    try watched.directory.write(to: "coverage/index.html")
    try watched.directory.write(to: "coverage/clover.xml")
    try watched.directory.write(to: "coverage/src/a.html")
    #expect(try watched.changes() == [])
    try watched.directory.remove("coverage/clover.xml")
    _ = try watched.changes()
    try watched.directory.write(to: "coverage/src/b.html")
    #expect(try watched.changes() == ["created coverage/src/b.html"])
  }

  @Test func `an ignore file that is a circle of links has no rules`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("d")
      for (name, target) in [
        (".ignore", "a"), ("a", "b"), ("b", ".ignore"), ("d/.ignore", "e/rules"), ("d/e", "../f"),
        ("f", "g"), ("g", "d/e"),
      ] {
        try directory.link(name, to: target)
      }
    }
    try watched.directory.write(to: "x")
    try watched.directory.write(to: "d/x")
    #expect(try watched.changes() == ["created d/x", "created x"])
    #expect(watched.warnings.map(\.code) == [.unreadableIgnoreFile, .unreadableIgnoreFile])
  }

  @Test func `a directory target is ignored while a tool is at home beside it`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("target/arm")
    }
    try watched.directory.write(to: "target/arm/a.c")
    #expect(try watched.changes() == ["created target/arm/a.c"])
    try watched.directory.write(to: "Cargo.toml")
    #expect(try watched.changes() == ["created Cargo.toml"])
    #expect(watched.watchCount == 1)
    try watched.directory.write(to: "target/arm/a.c")
    #expect(try watched.changes() == [])
    try watched.directory.remove("Cargo.toml")
    _ = try watched.changes()
    try watched.directory.write(to: "target/arm/a.c")
    #expect(try watched.changes() == ["modified target/arm/a.c"])
  }

  @Test func `a directory that arrives while rules are applied comes with its entries`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("a/b")
      try directory.makeDirectories("z")
      try directory.write(to: "a/b/f")
    }
    try watched.directory.write("x\n", to: ".gitignore")
    try watched.readHints { try watched.directory.rename("a", to: "z/a") }
    #expect(try watched.changes() == ["created .gitignore", "renamed z/a from a"])
    try watched.directory.write(to: "z/a/b/f")
    #expect(try watched.changes() == ["modified z/a/b/f"])
  }

  @Test(arguments: [false, true])
  func `a file that is watched beside a directory is not reported with its rules`(
    isBehindLink: Bool
  ) throws {
    let file = isBehindLink ? "l/f" : "f"
    let watched = try WatchedTree(
      [("src", .recursive), (file, .named)], hasBase: !isBehindLink
    ) { directory in
      for name in ["src", "d"] { try directory.makeDirectories(name) }
      for name in ["f", "d/f"] { try directory.write(to: name) }
      try directory.link("l", to: "d")
    }
    try watched.directory.write("out/\n", to: "src/.gitignore")
    #expect(try watched.changes() == ["created src/.gitignore"])
    #expect(try watched.changes() == [])
    watched.remove("src")
    #expect(try watched.changes() == [])
    try watched.directory.append("x", to: file)
    #expect(try watched.changes() == ["modified \(file)"])
    try watched.directory.remove(file)
    #expect(try watched.changes() == ["removed \(file)"])
  }

  @Test func `a root in a directory that is ignored now is as it was`() throws {
    let watched = try WatchedTree([("", .recursive), ("out/sub", .recursive), ("out/f", .named)]) {
      try $0.makeDirectories("out/sub")
      for name in ["out/f", "out/sub/g"] { try $0.write(to: name) }
    }
    try watched.directory.write("out/\n", to: ".gitignore")
    #expect(try watched.changes() == ["created .gitignore"])
    #expect(try watched.changes() == [])
    for name in ["out/f", "out/sub/g"] {
      try watched.directory.write(to: "new")
      try watched.directory.rename("new", to: name)
      #expect(try watched.changes() == ["modified \(name)"])
    }
    try watched.directory.remove("out")
    #expect(try watched.changes() == ["removed out/f", "removed out/sub", "removed out/sub/g"])
  }

  /// A tree with the file `a/b/f.c`, and a directory `a` elsewhere that ignores its `b`.
  private static func replaceableDirectory() throws -> (WatchedTree, other: TemporaryDirectory) {
    let watched = try WatchedTree(extensions: ["c"]) { directory in
      try directory.makeDirectories("a/b")
      try directory.write(to: "a/b/f.c")
    }
    let other = try TemporaryDirectory()
    try other.makeDirectories("a/b")
    try other.write("/b\n", to: "a/.gitignore")
    return (watched, other)
  }

  @Test func `files below a replaced directory are reported before its hints are read`() throws {
    let (watched, other) = try Self.replaceableDirectory()
    let since = FileTime.latest()
    try watched.directory.remove("a")
    try other.rename("a", to: "a", in: watched.directory)
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == ["removed a/b/f.c"])
  }

  @Test func `files below a directory that is replaced after its hints were read are reported`()
    throws
  {
    let (watched, other) = try Self.replaceableDirectory()
    // The first hint of each directory is older than those of its entries.
    try watched.directory.setMode(0o700, of: "a")
    try watched.directory.setMode(0o700, of: "a/b")
    try watched.directory.remove("a")
    try watched.readHints { try other.rename("a", to: "a", in: watched.directory) }
    #expect(try watched.changes() == ["removed a/b/f.c"])
  }

  /// A tree that is observed with an extension, and a root within it that is reached by `src`.
  private static func innerRoot(
    _ roots: [String], _ rules: String? = nil, followsLinks: Bool = false
  ) throws -> WatchedTree {
    try WatchedTree(
      roots.map { ($0, $0.hasSuffix(".c") ? .named : .recursive) }, followsLinks: followsLinks,
      extensions: ["c"], hasBase: true
    ) { directory in
      try directory.makeDirectories("src/lib")
      try directory.write(to: "src/lib/l.c")
      try directory.write(to: "src/a.c")
      if let rules { try directory.write(rules, to: "src/.gitignore") }
      if followsLinks {
        try directory.link("link.c", to: "src/lib/l.c")
        try directory.link("d", to: "src")
      }
    }
  }

  @Test(arguments: [["", "src/lib"], ["src/lib", ""], ["", "src/lib/l.c"]])
  func `the rules of a directory around an inner root are read, whatever is reported`(
    roots: [String]
  ) throws {
    let watched = try Self.innerRoot(roots, "gen*")
    try watched.directory.write(to: "src/gen1.c")
    try watched.directory.write(to: "src/lib/gen2.c")
    #expect(try watched.changes() == [])
    try watched.directory.write("", to: "src/.gitignore")
    #expect(try watched.changes() == [])
    try watched.directory.append("x", to: "src/gen1.c")
    #expect(try watched.changes() == ["modified src/gen1.c"])
  }

  @Test(arguments: [["", "src/lib"], ["", "src/lib/l.c"]])
  func `changed rules apply around an inner root, whatever is reported`(roots: [String]) throws {
    let watched = try Self.innerRoot(roots)
    try watched.directory.write("a*\n", to: ".gitignore")
    #expect(try watched.changes() == [])
    try watched.directory.append("x", to: "src/a.c")
    #expect(try watched.changes() == [])
    try watched.directory.write("src/\n", to: ".gitignore")
    #expect(try watched.changes() == [])
    try watched.directory.write(to: "src/b.c")
    try watched.directory.append("x", to: "src/lib/l.c")
    #expect(try watched.changes() == ["modified src/lib/l.c"])
    try watched.directory.write("", to: ".gitignore")
    _ = try watched.changes()
    try watched.directory.append("x", to: "src/a.c")
    #expect(try watched.changes() == ["modified src/a.c"])
  }

  @Test func `changed rules apply around the target of a followed link, whatever is reported`()
    throws
  {
    let watched = try Self.innerRoot([""], followsLinks: true)
    try watched.directory.write("a*\n", to: "src/.gitignore")
    #expect(try watched.changes() == [])
    try watched.directory.append("x", to: "src/a.c")
    #expect(try watched.changes() == [])
  }

  @Test func `a link on the way to a root is followed, whatever is reported`() throws {
    let watched = try WatchedTree(
      [("w", .recursive), ("w/l/f.c", .named)], followsLinks: true, extensions: ["c"], hasBase: true
    ) { directory in
      for name in ["w", "d", "e"] { try directory.makeDirectories(name) }
      try directory.write("a*\n", to: "d/.gitignore")
      for name in ["d/f.c", "e/f.c"] { try directory.write(name, to: name) }
      try directory.link("w/l", to: "../d")
    }
    try watched.directory.write(to: "d/a.c")
    try watched.directory.write(to: "d/b.c")
    #expect(try watched.changes() == ["created w/l/b.c"])
    try watched.directory.link("w/new", to: "../e")
    try watched.directory.rename("w/new", to: "w/l")
    #expect(try watched.changes() == ["modified w/l/f.c", "removed w/l/b.c"])
    try watched.directory.append("x", to: "e/f.c")
    try watched.directory.write(to: "e/a.c")
    #expect(try watched.changes() == ["created w/l/a.c", "modified w/l/f.c"])
    try watched.directory.append("x", to: "d/f.c")
    #expect(try watched.changes() == [])
  }

  @Test func `rules above a root and in its repository take effect as well`() throws {
    let watched = try WatchedTree([("sub", .recursive)]) { directory in
      try directory.makeDirectories(".git/info")
      try directory.makeDirectories("sub/out")
    }
    try watched.directory.write("*.log\n", to: ".gitignore")
    try watched.directory.write("out/\n", to: ".git/info/exclude")
    #expect(try watched.changes() == [], "they are no part of what is watched")
    try watched.directory.write(to: "sub/a.log")
    try watched.directory.write(to: "sub/out/f")
    try watched.directory.write(to: "sub/f")
    #expect(try watched.changes() == ["created sub/f"])
    try watched.directory.remove(".git/info/exclude")
    #expect(try watched.changes() == [])
    try watched.directory.write(to: "sub/out/f")
    #expect(try watched.changes() == ["modified sub/out/f"])
  }

  @Test func `a nearer ignore file can include what one above ignores`() throws {
    let watched = try WatchedTree { directory in
      try directory.write("*.log\n", to: ".gitignore")
      try directory.makeDirectories("a")
    }
    try watched.directory.write("!keep.log\n", to: "a/.ignore")
    #expect(try watched.changes() == ["created a/.ignore"])
    try watched.directory.write(to: "a/keep.log")
    try watched.directory.write(to: "a/other.log")
    #expect(try watched.changes() == ["created a/keep.log"])
  }

  @Test func `an unreadable ignore file leads to one warning`() throws {
    let watched = try WatchedTree { try $0.link(".gitignore", to: "elsewhere") }
    try watched.directory.remove(".gitignore")
    try watched.directory.link(".gitignore", to: "elsewhere")
    _ = try watched.changes()
    #expect(watched.warnings.map(\.code) == [.unreadableIgnoreFile])
    #expect(watched.warnings.map(\.path) == [watched.directory[".gitignore"]])
  }

  @Test func `a root in which everything is ignored leads to a warning with a rule`() throws {
    let watched = try WatchedTree { directory in
      try directory.write("*\n", to: ".gitignore")
      try directory.write(to: "f")
    }
    #expect(watched.warnings.map(\.code) == [.everythingIgnored])
    #expect(watched.warnings.first?.description.contains(".gitignore:1:*") == true)
  }

  @Test func `a new repository is not reported`() throws {
    let watched = try WatchedTree { try $0.makeDirectories(".git/info") }
    #expect(watched.warnings.isEmpty)
  }

  @Test func `an ignored directory that is unreadable, or in the way, does no harm`() throws {
    let watched = try WatchedTree { directory in
      try directory.write("out/\n", to: ".gitignore")
      try directory.makeDirectories("out/closed")
      try directory.setMode(0, of: "out/closed")
    }
    #expect(watched.warnings.isEmpty)
    #expect(watched.watchCount == 1)
    try watched.directory.setMode(0o700, of: "out/closed")
  }
}

#endif  // os(Linux)
