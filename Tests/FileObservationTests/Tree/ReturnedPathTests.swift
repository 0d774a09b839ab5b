import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Paths that are gone while something in them is looked up, on a disk in memory.
struct ReturnedPathTests {
  /// Calls a body once, before the observer makes a call with a path.
  private func before(
    _ call: String, _ path: Path, on disk: MemoryDisk, _ body: @escaping (MemoryDisk) -> Void
  ) {
    var isDone = false
    disk.note = { [unowned disk] in
      if isDone || $0 != call || $1 != path { return }
      isDone = true
      body(disk)
    }
  }

  @Test func `a directory that is back is watched again, and what is in it`() throws {
    let observed = MemoryTree { $0.create("/r/a", .directory) }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.create("/r/a/b", .directory)
    observed.disk.create("/r/a/b/f", .file)
    before("inotify_add_watch", "/r/a/b", on: observed.disk) { $0.rename("/r/a", to: "/r/z") }
    try observed.tree.readHints()
    observed.disk.rename("/r/z", to: "/r/a")
    _ = try observed.changes()
    observed.disk.write("/r/a/b/f")
    #expect(try observed.changes() == ["modified /r/a/b/f"])
  }

  @Test func `what was not found while its directory was away is found when that is back`() throws {
    let observed = MemoryTree { disk in
      disk.create("/r/a", .directory)
      disk.create("/r/a/f", .file)
      disk.create("/r/a/g", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.write("/r/a/g")
    observed.disk.write("/r/a/f")
    before("stat", "/r/a/f", on: observed.disk) { $0.rename("/r/a", to: "/r/z") }
    try observed.tree.readHints()
    observed.disk.rename("/r/z", to: "/r/a")
    #expect(try observed.changes() == ["modified /r/a/f", "modified /r/a/g"])
    observed.disk.write("/r/a/f")
    #expect(try observed.changes() == ["modified /r/a/f"])
  }

  @Test func `what was not found while a directory above its root was away is found`() throws {
    let observed = MemoryTree(roots: ["/r/a/b"], base: "/r") { disk in
      disk.create("/r/a", .directory)
      disk.create("/r/a/b", .directory)
      disk.create("/r/a/b/f", .file)
      disk.create("/r/a/b/g", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.write("/r/a/b/g")
    observed.disk.write("/r/a/b/f")
    before("stat", "/r/a/b/f", on: observed.disk) { $0.rename("/r/a", to: "/r/z") }
    try observed.tree.readHints()
    observed.disk.rename("/r/z", to: "/r/a")
    #expect(try observed.changes() == ["modified /r/a/b/f", "modified /r/a/b/g"])
    observed.disk.write("/r/a/b/f")
    #expect(try observed.changes() == ["modified /r/a/b/f"])
  }

  @Test(arguments: [["/r", "/r/a/b"], ["/r/a/b", "/r"], ["/r", "/r/a/b/f.x"]])
  func `a directory around an inner root that is replaced at once is observed`(roots: [String])
    throws
  {
    let observed = MemoryTree(roots: roots.map { Path($0) }, base: "/r", extensions: ["x"]) {
      for name: Path in ["/o", "/o/new", "/r/a", "/r/a/b"] { $0.create(name, .directory) }
      $0.create("/r/a/b/f.x", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.rename("/r/a", to: "/o/old")
    observed.disk.rename("/o/new", to: "/r/a")
    _ = try observed.changes()
    observed.disk.create("/r/a/g.x", .file)
    #expect(try observed.changes() == ["created /r/a/g.x"])
    observed.disk.create("/o/old/h.x", .file)
    #expect(try observed.changes() == [])
  }

  @Test func `a directory that is found while an inner root is awaited there is observed`() throws {
    let observed = MemoryTree(roots: ["/r", "/r/a/b"], base: "/r", extensions: ["x"]) {
      $0.create("/r/a", .file)
      $0.create("/r/d", .directory)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.rename("/r/a", to: "/r/e")
    before("stat", "/r/a/b", on: observed.disk) { $0.rename("/r/d", to: "/r/a") }
    #expect(try observed.changes() == [])
    observed.disk.create("/r/a/f.x", .file)
    #expect(try observed.changes() == ["created /r/a/f.x"])
  }

  @Test func `a directory in which an inner root is awaited may be replaced before it is known`()
    throws
  {
    let observed = MemoryTree(roots: ["/r", "/r/a/b"], base: "/r") {
      for name: Path in ["/o", "/r/a", "/r/d"] { $0.create(name, .directory) }
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.rename("/r/a", to: "/o/a")
    before("stat", "/r/a/b", on: observed.disk) { $0.rename("/r/d", to: "/r/a") }
    try observed.tree.readHints()
    observed.disk.rename("/r/a", to: "/o/d")
    observed.disk.create("/r/a", .directory)
    _ = try observed.changes()
    observed.disk.create("/r/a/f", .file)
    #expect(try observed.changes() == ["created /r/a/f"])
  }

  @Test func `a file that is saved twice in one clock tick may have its former inode`() throws {
    let observed = MemoryTree { _ in }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.create("/r/f", .file)
    try observed.tree.readHints()
    #expect(observed.takeChanges() == ["created /r/f"])
    for _ in 0..<2 {
      observed.disk.create("/r/t", .file)
      observed.disk.rename("/r/t", to: "/r/f")
    }
    try observed.tree.readHints()
    observed.tree.stopAwaitingArrivals()
    #expect(observed.takeChanges() == ["modified /r/f"])
    #expect(try observed.changes() == [])
  }

  @Test func `a polled directory is still polled when the one around it was away`() throws {
    let observed = MemoryTree(watchLimit: 2) { disk in
      disk.create("/r/a", .directory)
      disk.create("/r/a/b", .directory)
      disk.create("/r/a/b/f", .file)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.rename("/r/a", to: "/r/z")
    observed.tree.poll()
    observed.disk.rename("/r/z", to: "/r/a")
    #expect(try observed.changes() == [])
    observed.disk.write("/r/a/b/f")
    observed.tree.poll()
    #expect(try observed.changes() == ["modified /r/a/b/f"])
  }

  @Test func `a directory above an awaited root that was reported is removed when it is renamed`()
    throws
  {
    let observed = MemoryTree(roots: ["/r", "/r/a/b"]) { _ in }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.create("/r/a", .directory)
    observed.disk.create("/r/a/b", .directory)
    observed.disk.create("/r/d", .directory)
    // It was reported, and is found elsewhere before the hint of its disappearance is read.
    before("inotify_add_watch", "/r/a", on: observed.disk) { $0.rename("/r/a", to: "/r/d/a") }
    let changes = try observed.changes()
    #expect(changes == ["created /r/d", "created /r/d/a", "created /r/d/a/b"])
  }

  @Test func `a file that is a root has a watch when it is back`() throws {
    let observed = MemoryTree(roots: ["/r", "/r/f"]) { $0.create("/r/f", .file) }
    try observed.start()
    #expect(try observed.changes() == [])
    #expect(observed.hints.watchCount == 2)
    observed.disk.rename("/r/f", to: "/r/g")
    before("stat", "/r/g", on: observed.disk) { $0.rename("/r/g", to: "/r/f") }
    try observed.tree.readHints()
    #expect(try observed.changes() == ["modified /r/f"])
    #expect(observed.hints.watchCount == 2)
    #expect(observed.tree.directories.watchCount == 2)
  }

  @Test func `a root that becomes a directory between two looks has no watch of a file`() throws {
    let observed = MemoryTree(roots: ["/r", "/r/f"]) { disk in
      disk.create("/r/f", .file)
      disk.create("/r/d", .directory)
    }
    try observed.start()
    #expect(try observed.changes() == [])
    observed.disk.write("/r/f")
    var looks = 0
    observed.disk.note = { [unowned disk = observed.disk] in
      if $0 != "stat" || $1 != "/r/f" { return }
      looks += 1
      if looks == 2 { disk.exchange("/r/f", "/r/d") }
    }
    #expect(try observed.changes() != [])
    _ = try observed.changes()
    let entry = try #require(observed.tree.snapshot.entry(at: "/r/f"))
    #expect(observed.tree.directories[entry]?.watch != nil)
    #expect(observed.tree.directories.watch(ofFile: entry) == nil)
    observed.disk.create("/r/f/g", .file)
    #expect(try observed.changes() == ["created /r/f/g"])
  }
}
