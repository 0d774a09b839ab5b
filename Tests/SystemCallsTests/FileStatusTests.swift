import SystemCalls
import TestSupport
import Testing

struct FileStatusTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `is that of a link itself unless links are followed`() throws {
    try directory.write("12345", to: "file")
    try directory.link("link", to: "file")
    let file = try FileStatus(of: directory["file"])
    #expect(file.type == .file)
    #expect(file.size == 5)
    #expect(try FileStatus(of: directory["link"]).type == .symlink)
    #expect(try FileStatus(of: directory["link"], followsLinks: true) == file)
  }

  @Test func `a link that leads nowhere has one, and leads to none`() throws {
    try directory.link("dangling", to: "/nonexistent")
    #expect(try FileStatus(of: directory["dangling"]).type == .symlink)
    #expect(throws: SystemError(call: "stat", code: ENOENT, path: directory["dangling"])) {
      try FileStatus(of: directory["dangling"], followsLinks: true)
    }
  }

  @Test func `the status is the same by path and by name in its directory`() throws {
    try directory.write(to: "file")
    let descriptor = try Descriptor.openDirectory(directory.path)
    let byName = try Path("file").withCString { (name) throws(SystemError) in
      try FileStatus(of: name, in: descriptor)
    }
    #expect(try FileStatus(of: directory["file"]) == byName)
  }

  @Test func `is stamped between the earliest and the latest time there can be`() throws {
    let before = FileTime.now()
    // Once a stamp has been asked for, later ones may be finer than the coarse clock's ticks.
    for _ in 0..<100 {
      try directory.write(to: "file")
      _ = try FileStatus(of: directory["file"])
    }
    let after = FileTime.latest()
    let status = try FileStatus(of: directory["file"])
    #expect(before <= status.changed && status.changed <= after)
    #expect(before <= status.modified && status.modified <= after)
    let born = try #require(status.born)
    #expect(before <= born && born <= after)
  }

  @Test func `a path is resolved through all its links`() throws {
    try directory.makeDirectories("real/sub")
    try directory.link("one", to: "two")
    try directory.link("two", to: "real")
    #expect(try resolvedPath(directory["one/sub"]) == directory["real/sub"])
    #expect(throws: SystemError(call: "realpath", code: ENOENT, path: directory["none"])) {
      try resolvedPath(directory["none"])
    }
  }
}
