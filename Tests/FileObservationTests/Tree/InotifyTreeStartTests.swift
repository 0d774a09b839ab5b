#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// What has changed between the start and the watch of a directory.
@Suite(.blocks)
struct InotifyTreeStartTests {
  @Test func `the first comparison reports changes made before the baseline`() throws {
    let since = FileTime.now()
    let watched = try WatchedTree { try $0.write(to: "f") }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == ["created f"])
  }

  @Test func `the first comparison does not report changes that were reported since the baseline`()
    throws
  {
    let since = FileTime.now()
    let watched = try WatchedTree()
    try watched.directory.makeDirectories("d")
    try watched.directory.write(to: "d/f")
    #expect(try watched.changes() == ["created d", "created d/f"])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == [])
    try watched.directory.remove("d/f")
    try watched.directory.write(to: "d/g")
    _ = try watched.changes()
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == [], "nor by a number that is used again")
  }

  /// The clock of file timestamps ticks every few milliseconds, so a change may have a timestamp
  /// before the watch that has reported it.
  @Test
  func `the first comparison does not report again what changed in the clock tick of the watch`()
    throws
  {
    for _ in 0..<30 {
      let since = FileTime.now()
      let watched = try WatchedTree()
      try watched.directory.write(to: "f")
      #expect(try watched.changes() == ["created f"])
      watched.lookForTheSecondTime(since: since)
      #expect(try watched.changes() == [])
    }
  }

  @Test func `the first comparison does not report a change of attributes again`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    let since = FileTime.latest()
    while FileTime.now() <= since {}
    try watched.directory.setMode(0o600, of: "f")
    #expect(try watched.rawKinds() == [.metadata])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.rawKinds() == [])
  }

  @Test func `a write before the watch counts although attributes have changed since`() throws {
    var since = FileTime.now()
    let watched = try WatchedTree {
      try $0.write(to: "f")
      since = .latest()
      while FileTime.now() <= since {}
      try $0.append("more", to: "f")
    }
    try watched.directory.setMode(0o600, of: "f")
    #expect(try watched.rawKinds() == [.metadata])
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.rawKinds() == [.modified(isOpen: false)])
  }

  @Test func `the first comparison leaves changes of attributes to their hints`() throws {
    let watched = try WatchedTree { try $0.write(to: "f") }
    let since = FileTime.latest()
    while FileTime.now() <= since {}
    try watched.directory.setMode(0o600, of: "f")
    watched.lookForTheSecondTime(since: since, until: since)
    #expect(try watched.rawKinds() == [.metadata])
  }

  @Test func `a removal in the clock tick of the watch is reported once`() throws {
    for _ in 0..<30 {
      let since = FileTime.now()
      let watched = try WatchedTree {
        try $0.makeDirectories("d")
        try $0.write(to: "d/f")
      }
      try watched.directory.remove("d/f")
      watched.lookForTheSecondTime(since: since)
      let changes = try watched.changes()
      #expect(changes.contains("removed d/f"))
      #expect(!changes.contains("modified d"))
    }
  }

  @Test func `a directory that lost an entry before it was watched is reported itself`() throws {
    var since = FileTime.latest()
    let watched = try WatchedTree {
      try $0.makeDirectories("d")
      try $0.write(to: "d/f")
      since = .latest()
      while FileTime.now() <= since {}
      try $0.remove("d/f")
    }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == ["modified d"])
    #expect(try watched.changes() == [])
  }

  @Test func `a file that is replaced during the first comparison is left to its hint`() throws {
    let start = FileTime.now()
    let watched = try WatchedTree { try $0.write(to: "f") }
    let end = FileTime.latest()
    while FileTime.now() <= end {}
    let other = try TemporaryDirectory()
    try other.write(to: "f")
    try other.rename("f", to: "f", in: watched.directory)
    watched.lookForTheSecondTime(since: start, until: end)
    #expect(try watched.changes() == ["modified f"])
  }

  /// A directory that is written to has the times of one in which an entry has appeared.
  @Test func `a directory that is renamed and written to before it is watched is reported`() throws
  {
    let observed = MemoryTree {
      $0.create("/r/a", .directory)
      $0.create("/r/a/f", .file)
    }
    observed.disk.rename("/r/a", to: "/r/b")
    observed.disk.create("/r/b/g", .file)
    try observed.start()
    let changes = try observed.changes()
    #expect(changes == ["created /r/b/g", "modified /r", "modified /r/b"])
  }

  @Test func `a root that is renamed in another root before it is watched is reported`() throws {
    let observed = MemoryTree(roots: ["/r", "/r/b"]) { $0.create("/r/a", .directory) }
    observed.disk.rename("/r/a", to: "/r/b")
    try observed.start()
    let changes = try observed.changes()
    #expect(changes == ["modified /r", "modified /r/b"])
  }

  @Test func `a write in the clock tick of a poll is found by the scan that ends polling`() throws {
    let observed = MemoryTree(watchLimit: 2) {
      $0.create("/r/a", .directory)
      $0.create("/r/b", .directory)
      $0.create("/r/b/f", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    for file in ["/r/a/f", "/r/b/f"] as [Path] { observed.disk.write(file) }
    observed.tree.poll()
    #expect(observed.takeChanges() == ["modified /r/b/f"])
    observed.disk.write("/r/b/f")
    observed.disk.remove("/r/a")
    #expect(try observed.changes() == ["removed /r/a"])
    observed.tree.poll()
    #expect(try observed.changes() == ["modified /r/b/f"])
  }

  @Test func `a removal before the first comparison is reported regardless of filters`() throws {
    var since = FileTime.now()
    let watched = try WatchedTree(extensions: ["c"]) { directory in
      try directory.makeDirectories("a")
      try directory.makeDirectories("b")
      try directory.write(to: "a/f.c")
      since = .latest()
      while FileTime.now() <= since {}
      try directory.remove("a/f.c")
    }
    watched.lookForTheSecondTime(since: since)
    #expect(try watched.changes() == ["modified a"])
    watched.forgetComparison()
    try watched.directory.remove("b")
    #expect(try watched.changes() == ["removed b"], "it may have contained included entries")
  }

  enum LaterChange: CaseIterable {
    case write, mode, oldTimes
  }

  @Test(arguments: LaterChange.allCases)
  func `a file that was created before the watch and changed after it is created`(
    _ change: LaterChange
  ) throws {
    let watched = try WatchedTree(startsBeforePreparation: true) { try $0.write(to: "f") }
    switch change {
    case .write: try watched.directory.append("more", to: "f")
    case .mode: try watched.directory.setMode(0o600, of: "f")
    case .oldTimes: try File.touch(watched.directory["f"], isOld: true)
    }
    #expect(try watched.changes() == ["created f"])
    watched.lookForTheSecondTime(since: watched.start)
    #expect(try watched.changes() == [], "the directory has lost nothing")
  }
}

#endif  // os(Linux)
