#if os(Linux)

import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct InotifyTreeTests {
  @Test func `a file's life is told of`() throws {
    let watched = try WatchedTree()
    try watched.folder.write(to: "f")
    #expect(try watched.news() == ["created f"])
    try watched.folder.append("more", to: "f")
    #expect(try watched.news() == ["modified f"])
    try watched.folder.setMode(0o600, of: "f")
    #expect(try watched.news() == ["metadata f"])
    try watched.folder.rename("f", to: "g")
    #expect(try watched.news() == ["renamed g from f"])
    try watched.folder.remove("g")
    #expect(try watched.news() == ["removed g"])
    #expect(try watched.news() == [])
  }

  @Test func `an open file is told of as open until it is closed`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    do {
      let file = try Descriptor.open(watched.folder["f"], O_WRONLY)
      try writeAll([1], to: file.number)
      #expect(try watched.rawKinds() == [.modified(isOpen: true)])
      _ = consume file
    }
    #expect(try watched.rawKinds() == [.modified(isOpen: false)])
  }

  @Test func `a second look tells of what changed before the first came by`() throws {
    let since = FileTime.now()
    let watched = try WatchedTree { try $0.write(to: "f") }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == ["created f"])
  }

  @Test func `a second look does not tell of what was told since the first`() throws {
    let since = FileTime.now()
    let watched = try WatchedTree()
    try watched.folder.makeDirectories("d")
    try watched.folder.write(to: "d/f")
    #expect(try watched.news() == ["created d", "created d/f"])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == [])
    try watched.folder.remove("d/f")
    try watched.folder.write(to: "d/g")
    _ = try watched.news()
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == [], "nor by a number that is used again")
  }

  /// Files are stamped by a clock that ticks every few milliseconds, and so perhaps with a time before
  /// that of the watch that has told of them.
  @Test func `a second look does not tell twice of what comes in the tick of the watch`() throws {
    for _ in 0..<100 {
      let since = FileTime.now()
      let watched = try WatchedTree()
      try watched.folder.write(to: "f")
      #expect(try watched.news() == ["created f"])
      watched.lookForTheSecondTime(since: since)
      #expect(try watched.news() == [])
    }
  }

  @Test func `a root that comes before it is added is told of`() throws {
    let watched = try WatchedTree([("a", .named)]) { try $0.write(to: "old") }
    let since = FileTime.latest()
    while FileTime.now() <= since {}
    try watched.folder.write(to: "f")
    try watched.folder.makeDirectories("d")
    for name in ["f", "d", "old"] { watched.add(name, since: since) }
    #expect(try watched.news() == ["created d", "created f"])
    try watched.folder.append("x", to: "f")
    try watched.folder.append("x", to: "old")
    let news = try watched.news()
    #expect(news == ["modified f", "modified old"])
  }

  @Test func `of what was removed in the tick of the watch, only the kernel tells`() throws {
    for _ in 0..<100 {
      let since = FileTime.now()
      let watched = try WatchedTree {
        try $0.makeDirectories("d")
        try $0.write(to: "d/f")
      }
      try watched.folder.remove("d/f")
      watched.lookForTheSecondTime(since: since)
      let news = try watched.news()
      #expect(news.contains("removed d/f"))
      #expect(!news.contains("modified d"))
    }
  }

  @Test func `a folder that has lost something before it was watched is told of itself`() throws {
    var since = FileTime.latest()
    let watched = try WatchedTree {
      try $0.makeDirectories("d")
      try $0.write(to: "d/f")
      since = .latest()
      while FileTime.now() <= since {}
      try $0.remove("d/f")
    }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == ["modified d"])
    #expect(try watched.news() == [])
  }

  @Test func `what comes while all is judged anew is told of`() throws {
    let watched = try WatchedTree { folder in
      try folder.makeDirectories("old")
      try folder.write("out/\n", to: ".gitignore")
      try folder.makeDirectories("out")
      try folder.write(to: "out/f")
    }
    for folder in ["new", "old/new"] {
      try watched.folder.makeDirectories(folder + "/sub")
      try watched.folder.write(to: folder + "/f")
      try watched.folder.write(to: folder + "/sub/f")
    }
    watched.judgeAgain()
    let all = ["", "/f", "/sub", "/sub/f"]
    #expect(
      try watched.news() == all.map { "created new\($0)" } + all.map { "created old/new\($0)" })
    try watched.folder.append("x", to: "new/sub/f")
    #expect(try watched.news() == ["modified new/sub/f"])
  }

  @Test func `what was ignored until all was judged anew is not told of`() throws {
    let watched = try WatchedTree { folder in
      try folder.write("out/\n", to: ".gitignore")
      try folder.makeDirectories("out/sub")
      try folder.write(to: "out/sub/f")
    }
    try watched.folder.remove(".gitignore")
    #expect(try watched.news() == ["removed .gitignore"])
    try watched.folder.append("x", to: "out/sub/f")
    #expect(try watched.news() == ["modified out/sub/f"])
  }

  @Test func `after an overflow, a folder to which a link leads is still watched`() throws {
    let watched = try WatchedTree(followsLinks: true) {
      try $0.makeDirectories("real")
      try $0.link("l", to: "real")
    }
    for round in 0..<3 {
      try watched.compareAll(since: .latest())
      _ = try watched.news()
      try watched.folder.write(to: "real/f\(round)")
      #expect(try watched.news() == ["created real/f\(round)"])
    }
  }

  @Test func `a folder with two names has the other when one goes`() throws {
    let other = try TemporaryDirectory()
    let watched = try WatchedTree(followsLinks: true) {
      try $0.link("one", to: other.path.description)
      try $0.link("two", to: other.path.description)
    }
    try other.write(to: "f")
    let first = try #require(try watched.news().first?.split(separator: " ").last?.dropLast(2))
    let second = first == "one" ? "two" : "one"
    try watched.folder.remove(String(first))
    let news = try watched.news()
    #expect(news == ["removed \(first)", "renamed \(second)/f from \(first)/f"])
    try other.append("x", to: "f")
    #expect(try watched.news() == ["modified \(second)/f"])
  }

  @Test func `of what is lost before all is looked at twice, a filter leaves out no trace`() throws
  {
    var since = FileTime.now()
    let watched = try WatchedTree(extensions: ["c"]) { folder in
      try folder.makeDirectories("a")
      try folder.makeDirectories("b")
      try folder.write(to: "a/f.c")
      since = .latest()
      while FileTime.now() <= since {}
      try folder.remove("a/f.c")
    }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.news() == ["modified a"])
    watched.forgetComparison()
    try watched.folder.remove("b")
    #expect(try watched.news() == ["removed b"], "it may have contained something that counts")
  }

  @Test func `folders on the way are watched, and what is in them already is told of`() throws {
    let watched = try WatchedTree()
    try watched.folder.makeDirectories("a/b/c")
    try watched.folder.write(to: "a/b/c/f")
    #expect(
      try watched.news() == ["created a", "created a/b", "created a/b/c", "created a/b/c/f"])
    #expect(watched.watchCount == 4)
    try watched.folder.append("x", to: "a/b/c/f")
    #expect(try watched.news() == ["modified a/b/c/f"])
  }

  @Test func `a tree that is moved in is told of and watched`() throws {
    let outside = try TemporaryDirectory()
    try outside.makeDirectories("tree/x/y")
    try outside.write(to: "tree/x/y/z")
    let watched = try WatchedTree()
    try outside.rename("tree", to: "tree", in: watched.folder)
    #expect(
      try watched.news() == [
        "created tree", "created tree/x", "created tree/x/y", "created tree/x/y/z",
      ])
    try watched.folder.append("x", to: "tree/x/y/z")
    #expect(try watched.news() == ["modified tree/x/y/z"])
  }

  @Test func `a folder that is removed and made again is watched again`() throws {
    let watched = try WatchedTree { try $0.makeDirectories("s") }
    for _ in 0..<5 {
      try watched.folder.remove("s")
      try watched.folder.makeDirectories("s")
      #expect(try watched.news().contains("modified s"))
      try watched.folder.write(to: "s/f")
      #expect(try watched.news() == ["created s/f"])
    }
  }

  @Test func `other ways to replace a file are seen`() throws {
    let watched = try WatchedTree { try $0.write("long", to: "f") }
    let file = watched.folder["f"]
    #expect(file.withCString { truncate($0, 1) } == 0)
    #expect(try watched.news() == ["modified f"])
    let other = watched.folder["hard-link"]
    #expect(file.withCString { old in other.withCString { link(old, $0) } } == 0)
    #expect(try watched.news().contains("created hard-link"))
    try watched.folder.exchange("f", "hard-link")
    #expect(try watched.news() == [], "the same file under both names")
    try watched.folder.write("other", to: "g")
    _ = try watched.news()
    try watched.folder.exchange("f", "g")
    #expect(try watched.news() == ["modified f", "modified g"])
  }

  @Test func `an editor's lock, which leads nowhere, does no harm`() throws {
    let watched = try WatchedTree()
    try watched.folder.link("lock", to: "user@host.1:2")
    #expect(try watched.news() == ["created lock"])
    try watched.folder.remove("lock")
    #expect(try watched.news() == ["removed lock"])
  }

  @Test func `links to folders are not followed`() throws {
    let watched = try WatchedTree {
      try $0.makeDirectories("x")
      try $0.link("x/up", to: "..")
      try $0.link("all", to: "/")
    }
    #expect(watched.watchCount == 2)
    try watched.folder.link("late", to: "/")
    #expect(try watched.news() == ["created late"])
    #expect(try watched.kernelWatchCount() == 2)
  }

  @Test func `names are told of byte for byte`() throws {
    let watched = try WatchedTree()
    let names: [[UInt8]] = [
      [0x62, 0xFF], Array("caf\u{E9}".utf8), Array("cafe\u{301}".utf8), Array("a\nb".utf8),
      Array("-rf".utf8), Array("$(id)".utf8),
    ]
    for name in names { try watched.folder.write(toName: name) }
    _ = try watched.news()
    for name in names { try watched.folder.write("y", toName: name) }
    let paths = Set(try watched.rawEvents().map(\.path))
    #expect(paths == Set(names.map { watched.folder.path.appending($0) }))
  }

  @Test func `churn leaves no watch and no memory behind`() throws {
    let watched = try WatchedTree { try $0.write(to: "keep") }
    let (watches, entries) = (watched.watchCount, watched.entryCount)
    for round in 0..<300 {
      try watched.folder.makeDirectories("d/e")
      try watched.folder.write(to: "d/e/f")
      if round.isMultiple(of: 3) { _ = try watched.news() }
      try watched.folder.rename("d", to: "r")
      if round.isMultiple(of: 2) { _ = try watched.news() }
      try watched.folder.remove("r")
    }
    _ = try watched.news()
    #expect(watched.watchCount == watches)
    #expect(watched.entryCount == entries)
    #expect(try watched.kernelWatchCount() == watches)
    try watched.folder.append("x", to: "keep")
    #expect(try watched.news() == ["modified keep"])
  }

  @Test func `a folder that may not be read is warned of, and watched when it may`() throws {
    guard geteuid() != 0 else { return }
    let watched = try WatchedTree()
    try watched.folder.makeDirectories("closed")
    try watched.folder.setMode(0, of: "closed")
    _ = try watched.news()
    try watched.folder.setMode(0o700, of: "closed")
    _ = try watched.news()
    try watched.folder.write(to: "closed/f")
    #expect(try watched.news() == ["created closed/f"])
  }

  @Test func `a folder that has a watch again is looked at no more`() throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("a/b")
    var tree = ObservedTree(filter: PathFilter(), source: InotifyHints(try Inotify()))
    tree.add(.init(path: folder.path, coverage: .recursive))
    while tree.visitPending(atMost: 2) {}
    tree.watches.unwatched = Set(tree.directories.entries)
    tree.poll(tree.watches.unwatched, since: .now())
    #expect(tree.watches.unwatched.isEmpty)
  }
}

#endif  // os(Linux)
