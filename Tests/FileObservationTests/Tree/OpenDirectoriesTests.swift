import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct OpenDirectoriesTests {
  private let disk: TemporaryDirectory
  private let open = OpenDirectories()
  private var snapshot = TreeSnapshot()
  private let outer: TreeSnapshot.Entry
  private let inner: TreeSnapshot.Entry

  init() throws {
    disk = try TemporaryDirectory()
    try disk.makeDirectories("outer/inner/innermost")
    outer = snapshot.insert("outer", .directory, in: TreeSnapshot.root)
    inner = snapshot.insert("inner", .directory, in: outer)
  }

  private func inode(_ descriptor: borrowing Descriptor) throws -> UInt64 {
    try FileStatus(of: ".", in: descriptor).inode
  }

  private func inode(_ name: String) throws -> UInt64 {
    try FileStatus(of: disk[name]).inode
  }

  @Test func `a directory is opened relative to its parent`() throws {
    let expected = try inode("outer/inner")
    open.keep(try open.open(disk["outer"], in: nil, on: Disk()), of: outer)
    // The path does not exist.
    try disk.rename("outer", to: "elsewhere")
    let found = try open.open(disk["outer/inner"], in: outer, on: Disk())
    #expect(try inode(found) == expected)
  }

  @Test func `a directory is opened by its path if its parent is not open`() throws {
    #expect(
      try inode(open.open(disk["outer/inner"], in: outer, on: Disk())) == inode("outer/inner")
    )
    open.keep(try open.open(disk["outer"], in: nil, on: Disk()), of: outer)
    open.closeAll()
    try disk.rename("outer", to: "elsewhere")
    #expect(throws: SystemError.self) {
      _ = try open.open(disk["outer/inner"], in: outer, on: Disk())
    }
  }

  @Test func `directories of finished subtrees are closed, and ancestors stay open`() throws {
    open.keep(try open.open(disk["outer"], in: nil, on: Disk()), of: outer)
    open.keep(try open.open(disk["outer/inner"], in: outer, on: Disk()), of: inner)
    _ = try open.open(disk["outer/inner/innermost"], in: inner, on: Disk())
    try disk.rename("outer", to: "elsewhere")
    _ = try open.open(disk["outer/inner"], in: outer, on: Disk())
    #expect(throws: SystemError.self) {
      _ = try open.open(disk["outer/inner/innermost"], in: inner, on: Disk())
    }
  }

  @Test func `a link is refused with and without an open parent`() throws {
    try disk.link("outer/link", to: "inner")
    #expect(throws: SystemError.self) {
      _ = try open.open(disk["outer/link"], in: nil, on: Disk())
    }
    open.keep(try open.open(disk["outer"], in: nil, on: Disk()), of: outer)
    #expect(throws: SystemError.self) {
      _ = try open.open(disk["outer/link"], in: outer, on: Disk())
    }
  }

  @Test func `the number of open directories is limited in a deep tree`() throws {
    var parent: TreeSnapshot.Entry?
    var tree = TreeSnapshot()
    for depth in 0..<40 {
      let entry = tree.insert("d\(depth)", .directory, in: parent ?? TreeSnapshot.root)
      open.keep(try open.open(disk.path, in: nil, on: Disk()), of: entry)
      parent = entry
    }
    let held = (0..<4096).count { number in
      (try? linkTarget(of: Path("/proc/self/fd/\(number)"))) == disk.path
    }
    #expect(held <= 16)
    open.closeAll()
  }
}
