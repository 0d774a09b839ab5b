#if os(Linux)

import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

@Suite(.blocks)
struct InotifyTreeTests {
  @Test func `creation, writes, renames and removal of a file are reported`() throws {
    let watched = try WatchedTree()
    try watched.directory.write(to: "f")
    #expect(try watched.changes() == ["created f"])
    try watched.directory.append("more", to: "f")
    #expect(try watched.changes() == ["modified f"])
    try watched.directory.setMode(0o600, of: "f")
    #expect(try watched.changes() == ["metadata f"])
    try watched.directory.rename("f", to: "g")
    #expect(try watched.changes() == ["renamed g from f"])
    try watched.directory.remove("g")
    #expect(try watched.changes() == ["removed g"])
    #expect(try watched.changes() == [])
  }

  @Test func `an open file is reported as open until it is closed`() async throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    do {
      let file = try Descriptor.open(watched.directory["f"], O_WRONLY)
      try writeAll([1], to: file.number)
      #expect(try watched.rawKinds() == [.modified(isOpen: true)])
      _ = consume file
    }
    // A process that another test starts just now has a copy until it runs its program.
    #expect(try await eventually { try watched.rawKinds() == [.modified(isOpen: false)] })
  }

  @Test func `a file that is touched while it is open is modified when it is closed`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    do {
      let file = try Descriptor.open(watched.directory["f"], O_WRONLY)
      futimens(file.number, nil)
      #expect(try watched.rawKinds() == [.metadata])
      let touched = try FileStatus(of: watched.directory["f"])
      while touched.isRacy(.now()) {}
      _ = consume file
    }
    #expect(try watched.rawKinds() == [.modified(isOpen: false)])
  }

  @Test func `a write counts if the state before it may be the same by chance`() throws {
    let watched = try WatchedTree()
    var status: FileStatus
    repeat {
      try? watched.directory.remove("f")
      _ = try watched.changes()
      try watched.directory.write("one", to: "f")
      #expect(try watched.changes() == ["created f"])
      // Until the state was recorded within a clock tick of the write. One more write in that tick would
      // leave the same timestamps; opening and closing the file gives the same hint.
      status = try FileStatus(of: watched.directory["f"])
    } while !status.isRacy(.now())
    while status.isRacy(.now()) {}
    for expected in [["modified f"], []] {
      _ = try Descriptor.open(watched.directory["f"], O_WRONLY)
      #expect(try watched.changes() == expected)
    }
  }

  @Test func `a rescan reports a file replaced before hints were read again`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    let other = try TemporaryDirectory()
    try other.write(to: "f")
    try other.rename("f", to: "f", in: watched.directory)
    try watched.dropHints()
    #expect(try watched.changes() == [])
    watched.rescan()
    #expect(try watched.changes() == ["modified f"])
  }

  @Test func `a rescan reports a file that was written when it was last touched`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    let since = FileTime.latest()
    while FileTime.now() <= since {}
    let file = try Descriptor.open(watched.directory["f"], O_WRONLY)
    futimens(file.number, nil)
    #expect(try watched.rawKinds() == [.metadata])
    // The hint of the close is among those that were dropped.
    try watched.compareAll(since: since)
    #expect(try watched.rawKinds() == [.modified(isOpen: false)])
    _ = consume file
  }

  @Test func `a root that is created before it is added is reported`() throws {
    let watched = try WatchedTree([("a", .named)]) { try $0.write(to: "old") }
    let since = FileTime.latest()
    while FileTime.now() <= since {}
    try watched.directory.write(to: "f")
    try watched.directory.makeDirectories("d")
    for name in ["f", "d", "old"] { watched.add(name, since: since) }
    #expect(try watched.changes() == ["created d", "created f"])
    try watched.directory.append("x", to: "f")
    try watched.directory.append("x", to: "old")
    let changes = try watched.changes()
    #expect(changes == ["modified f", "modified old"])
  }

  @Test func `an entry that appears before changed rules are applied is reported`() throws {
    let watched = try WatchedTree { directory in
      try directory.makeDirectories("old")
      try directory.write("out/\n", to: ".gitignore")
      try directory.makeDirectories("out")
      try directory.write(to: "out/f")
    }
    for directory in ["new", "old/new"] {
      try watched.directory.makeDirectories(directory + "/sub")
      try watched.directory.write(to: directory + "/f")
      try watched.directory.write(to: directory + "/sub/f")
    }
    watched.judgeAgain()
    let all = ["", "/f", "/sub", "/sub/f"]
    #expect(
      try watched.changes() == all.map { "created new\($0)" } + all.map { "created old/new\($0)" })
    try watched.directory.append("x", to: "new/sub/f")
    #expect(try watched.changes() == ["modified new/sub/f"])
  }

  @Test func `an entry that was ignored until changed rules are applied is not reported`() throws {
    let watched = try WatchedTree { directory in
      try directory.write("out/\n", to: ".gitignore")
      try directory.makeDirectories("out/sub")
      try directory.write(to: "out/sub/f")
    }
    try watched.directory.remove(".gitignore")
    #expect(try watched.changes() == ["removed .gitignore"])
    try watched.directory.append("x", to: "out/sub/f")
    #expect(try watched.changes() == ["modified out/sub/f"])
  }

  @Test func `a write whose hint is read with that of an edited ignore file is reported`() throws {
    let watched = try WatchedTree { directory in
      try directory.write("*.log", to: ".gitignore")
      for name in ["before.log", "after.log", "old.log"] { try directory.write(to: name) }
    }
    try watched.directory.append("x", to: "before.log")
    try watched.directory.write("*.tmp", to: ".gitignore")
    try watched.directory.append("x", to: "after.log")
    #expect(
      try watched.changes() == ["modified .gitignore", "modified after.log", "modified before.log"])
    // In the same clock tick, nothing is reported again.
    try watched.directory.write("*.log", to: ".gitignore")
    try watched.readHints {}
    try watched.readHints {}
    #expect(try watched.rawKinds() == [.modified(isOpen: false)])
  }

  @Test func `after an overflow, the target directory of a link is still watched`() throws {
    let watched = try WatchedTree(followsLinks: true) {
      try $0.makeDirectories("real")
      try $0.link("l", to: "real")
    }
    for round in 0..<3 {
      try watched.compareAll(since: .latest())
      _ = try watched.changes()
      try watched.directory.write(to: "real/f\(round)")
      #expect(try watched.changes() == ["created real/f\(round)"])
    }
  }

  @Test func `a directory with two names is known by the other when one is removed`() throws {
    let other = try TemporaryDirectory()
    let watched = try WatchedTree(followsLinks: true) {
      try $0.link("one", to: other.path.description)
      try $0.link("two", to: other.path.description)
    }
    try other.write(to: "f")
    let first = try #require(try watched.changes().first?.split(separator: " ").last?.dropLast(2))
    let second = first == "one" ? "two" : "one"
    try watched.directory.remove(String(first))
    let changes = try watched.changes()
    #expect(changes == ["removed \(first)", "renamed \(second)/f from \(first)/f"])
    try other.append("x", to: "f")
    #expect(try watched.changes() == ["modified \(second)/f"])
  }

  @Test func `new nested directories are watched, and their existing entries reported`() throws {
    let watched = try WatchedTree()
    try watched.directory.makeDirectories("a/b/c")
    try watched.directory.write(to: "a/b/c/f")
    #expect(
      try watched.changes() == ["created a", "created a/b", "created a/b/c", "created a/b/c/f"])
    #expect(watched.watchCount == 4)
    try watched.directory.append("x", to: "a/b/c/f")
    #expect(try watched.changes() == ["modified a/b/c/f"])
  }

  @Test func `a tree that is moved in is reported and watched`() throws {
    let outside = try TemporaryDirectory()
    try outside.makeDirectories("tree/x/y")
    try outside.write(to: "tree/x/y/z")
    let watched = try WatchedTree()
    try outside.rename("tree", to: "tree", in: watched.directory)
    #expect(
      try watched.changes() == [
        "created tree", "created tree/x", "created tree/x/y", "created tree/x/y/z",
      ])
    try watched.directory.append("x", to: "tree/x/y/z")
    #expect(try watched.changes() == ["modified tree/x/y/z"])
  }

  @Test func `a directory that is removed and created again is watched again`() throws {
    let watched = try WatchedTree { try $0.makeDirectories("s") }
    for _ in 0..<5 {
      try watched.directory.remove("s")
      try watched.directory.makeDirectories("s")
      #expect(try watched.changes().contains("modified s"))
      try watched.directory.write(to: "s/f")
      #expect(try watched.changes() == ["created s/f"])
    }
  }

  @Test func `other ways to replace a file are reported`() throws {
    let watched = try WatchedTree { try $0.write("long", to: "f") }
    let file = watched.directory["f"]
    #expect(file.withCString { truncate($0, 1) } == 0)
    #expect(try watched.changes() == ["modified f"])
    let other = watched.directory["hard-link"]
    #expect(file.withCString { old in other.withCString { link(old, $0) } } == 0)
    #expect(try watched.changes().contains("created hard-link"))
    try watched.directory.exchange("f", "hard-link")
    #expect(try watched.changes() == [], "the same file under both names")
    try watched.directory.write("other", to: "g")
    _ = try watched.changes()
    try watched.directory.exchange("f", "g")
    #expect(try watched.changes() == ["modified f", "modified g"])
  }

  @Test func `the dangling link with which an editor locks a file does no harm`() throws {
    let watched = try WatchedTree()
    try watched.directory.link("lock", to: "user@host.1:2")
    #expect(try watched.changes() == ["created lock"])
    try watched.directory.remove("lock")
    #expect(try watched.changes() == ["removed lock"])
  }

  @Test func `links to directories are not followed by default`() throws {
    let watched = try WatchedTree {
      try $0.makeDirectories("x")
      try $0.link("x/up", to: "..")
      try $0.link("all", to: "/")
    }
    #expect(watched.watchCount == 2)
    try watched.directory.link("late", to: "/")
    #expect(try watched.changes() == ["created late"])
    #expect(try watched.kernelWatchCount() == 2)
  }

  @Test func `names are reported byte for byte`() throws {
    let watched = try WatchedTree()
    let names: [[UInt8]] = [
      [0x62, 0xFF], Array("caf\u{E9}".utf8), Array("cafe\u{301}".utf8), Array("a\nb".utf8),
      Array("-rf".utf8), Array("$(id)".utf8),
    ]
    for name in names { try watched.directory.write(toName: name) }
    _ = try watched.changes()
    for name in names { try watched.directory.write("y", toName: name) }
    let paths = Set(try watched.rawEvents().map(\.path))
    #expect(paths == Set(names.map { watched.directory.path.appending($0) }))
  }

  @Test func `creating and removing many entries leaks neither watches nor memory`() throws {
    let watched = try WatchedTree { try $0.write(to: "keep") }
    let (watches, entries) = (watched.watchCount, watched.entryCount)
    for round in 0..<120 {
      try watched.directory.makeDirectories("d/e")
      try watched.directory.write(to: "d/e/f")
      if round.isMultiple(of: 3) { _ = try watched.changes() }
      try watched.directory.rename("d", to: "r")
      if round.isMultiple(of: 2) { _ = try watched.changes() }
      try watched.directory.remove("r")
    }
    _ = try watched.changes()
    #expect(watched.watchCount == watches)
    #expect(watched.entryCount == entries)
    #expect(try watched.kernelWatchCount() == watches)
    try watched.directory.append("x", to: "keep")
    #expect(try watched.changes() == ["modified keep"])
  }

  @Test func `an unreadable directory leads to a warning, and is watched once it is readable`()
    throws
  {
    guard geteuid() != 0 else { return }
    let watched = try WatchedTree()
    try watched.directory.makeDirectories("closed")
    try watched.directory.setMode(0, of: "closed")
    _ = try watched.changes()
    try watched.directory.setMode(0o700, of: "closed")
    _ = try watched.changes()
    try watched.directory.write(to: "closed/f")
    #expect(try watched.changes() == ["created closed/f"])
  }

  @Test func `a directory that could be watched is no longer polled`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("a/b")
    var tree = ObservedTree(filter: PathFilter(), source: InotifyHints(try Inotify()))
    tree.add(.init(path: directory.path, coverage: .recursive))
    while tree.scanPending(until: { true }) {}
    tree.directories.unwatched = Set(tree.directories.entries)
    tree.poll()
    #expect(tree.directories.unwatched.isEmpty)
  }
}

#endif  // os(Linux)
