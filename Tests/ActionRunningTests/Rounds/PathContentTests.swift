import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

/// What counts as the content of a path.
struct PathContentTests {
  private let folder: TemporaryDirectory
  private let reader = ContentReader()

  init() throws {
    folder = try TemporaryDirectory()
  }

  private func content(_ name: String, isMovedAsWhole: Bool = false) -> PathContent? {
    reader.contents(of: [(folder[name], isMovedAsWhole)]).first
  }

  private func isStamp(_ content: PathContent?) -> Bool {
    if case .stamp? = content { true } else { false }
  }

  @Test func `files with the same bytes are equal, whatever their inodes and times`() throws {
    try folder.write("same", to: "a")
    try folder.write("same", to: "b")
    try folder.write("Same", to: "c")
    #expect(content("a") == content("b"))
    #expect(content("a") != content("c"))
    #expect(!isStamp(content("a")))
    let before = content("a")
    try folder.write("same", to: "a")
    #expect(content("a") == before)
  }

  @Test func `the mode of a file is part of its content`() throws {
    try folder.write("x", to: "a")
    let before = content("a")
    try folder.setMode(0o755, of: "a")
    #expect(content("a") != before)
    try folder.setMode(0o644, of: "a")
    #expect(content("a") == before)
  }

  @Test func `a missing path is absent, also below a file`() throws {
    try folder.write("x", to: "a")
    #expect(content("none") == .absent)
    #expect(content("a/below") == .absent)
  }

  @Test func `directories are equal whatever they contain, unless moved as a whole`() throws {
    try folder.makeDirectories("d")
    #expect(content("d") == .directory)
    try folder.write("x", to: "d/a")
    #expect(content("d") == .directory)
    let moved = content("d", isMovedAsWhole: true)
    #expect(isStamp(moved))
    #expect(content("d", isMovedAsWhole: true) == moved)
    try folder.makeDirectories("e")
    try folder.rename("d", to: "old")
    try folder.rename("e", to: "d")
    #expect(content("d", isMovedAsWhole: true) != moved)
  }

  @Test func `a symbolic link is compared by its target, not by the target's content`() throws {
    try folder.write("x", to: "a")
    try folder.link("link", to: "a")
    try folder.link("nowhere", to: "b")
    #expect(content("link") == .link("a"))
    #expect(content("nowhere") == .link("b"))
    try folder.remove("link")
    try folder.link("link", to: "b")
    #expect(content("link") == .link("b"))
  }

  @Test func `a pipe is special and is not read`() throws {
    try folder.makePipe("pipe")
    #expect(content("pipe") == .special)
  }

  @Test func `a file is read up to 1 MiB, and a larger one is compared by its stamp`() throws {
    try #require(ContentReader.largestFile == 1 << 20)
    let largest = String(repeating: "x", count: 1 << 20)
    try folder.write(largest, to: "a")
    try folder.write(largest + "x", to: "b")
    #expect(!isStamp(content("a")))
    let before = content("b")
    #expect(isStamp(before))
    #expect(content("b") == before)
    // The same bytes in another file.
    try folder.write(largest + "x", to: "c")
    try folder.rename("c", to: "b")
    #expect(content("b") != before)
  }

  @Test func `a file that cannot be read is compared by its stamp`() throws {
    try folder.write("x", to: "a")
    try folder.setMode(0, of: "a")
    // Root reads it all the same.
    #expect(isStamp(content("a")) || (try? folder.read("a")) == "x")
    #expect(content("a") != .absent)
  }

  @Test func `the first 256 files are read, and the others are compared by their stamps`() throws {
    try folder.write("x", to: "a")
    let paths = Array(repeating: (path: folder["a"], isMovedAsWhole: false), count: 258)
    let contents = reader.contents(of: paths)
    #expect(contents.count == 258)
    #expect(contents.firstIndex(where: isStamp) == 256)
    #expect(contents[256...].allSatisfy(isStamp))
  }

  @Test func `contents are in the order of the paths`() throws {
    try folder.write("x", to: "a")
    try folder.makeDirectories("d")
    let contents = reader.contents(
      of: ["none", "d", "a"].map { (path: folder[$0], isMovedAsWhole: false) })
    #expect(contents == [.absent, .directory, content("a")])
  }
}
