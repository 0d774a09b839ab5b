import SystemCalls
import TestSupport
import Testing

struct FileStatusTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
  }

  @Test func `is that of a link itself unless links are followed`() throws {
    try folder.write("12345", to: "file")
    try folder.link("link", to: "file")
    let file = try FileStatus(of: folder["file"])
    #expect(file.type == .file)
    #expect(file.size == 5)
    #expect(try FileStatus(of: folder["link"]).type == .symlink)
    #expect(try FileStatus(of: folder["link"], followsLinks: true) == file)
  }

  @Test func `a link that leads nowhere has one, and leads to none`() throws {
    try folder.link("dangling", to: "/nonexistent")
    #expect(try FileStatus(of: folder["dangling"]).type == .symlink)
    #expect(throws: SystemError(call: "stat", code: ENOENT, path: folder["dangling"])) {
      try FileStatus(of: folder["dangling"], followsLinks: true)
    }
  }

  @Test func `the status is the same by path and by name in its directory`() throws {
    try folder.write(to: "file")
    let descriptor = try Descriptor.openDirectory(folder.path)
    let byName = try Path("file").withCString { (name) throws(SystemError) in
      try FileStatus(of: name, in: descriptor)
    }
    #expect(try FileStatus(of: folder["file"]) == byName)
  }

  @Test func `is stamped between the earliest and the latest time there can be`() throws {
    let before = FileTime.now()
    // Once a stamp has been asked for, later ones may be finer than the coarse clock's ticks.
    for _ in 0..<100 {
      try folder.write(to: "file")
      _ = try FileStatus(of: folder["file"])
    }
    let after = FileTime.latest()
    let status = try FileStatus(of: folder["file"])
    #expect(before <= status.changed && status.changed <= after)
    #expect(before <= status.modified && status.modified <= after)
    let born = try #require(status.born)
    #expect(before <= born && born <= after)
  }

  @Test func `a path is resolved through all its links`() throws {
    try folder.makeDirectories("real/sub")
    try folder.link("one", to: "two")
    try folder.link("two", to: "real")
    #expect(try resolvedPath(folder["one/sub"]) == folder["real/sub"])
    #expect(throws: SystemError(call: "realpath", code: ENOENT, path: folder["none"])) {
      try resolvedPath(folder["none"])
    }
  }
}
