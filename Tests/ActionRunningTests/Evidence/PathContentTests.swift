import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// What counts as the content of a path.
struct PathContentTests {
  private let directory: TemporaryDirectory
  private let reader = ContentReader()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func content(_ name: String, isMovedAsWhole: Bool = false) -> PathContent? {
    reader.states(of: [(directory[name], isMovedAsWhole)])[directory[name]]?.content
  }

  private func isStamp(_ content: PathContent?) -> Bool {
    if case .stamp? = content { true } else { false }
  }

  @Test func `files with the same bytes are equal, whatever their inodes and times`() throws {
    try directory.write("same", to: "a")
    try directory.write("same", to: "b")
    try directory.write("Same", to: "c")
    #expect(content("a") == content("b"))
    #expect(content("a") != content("c"))
    #expect(!isStamp(content("a")))
    let before = content("a")
    try directory.write("same", to: "a")
    #expect(content("a") == before)
  }

  @Test func `the mode of a file is part of its content`() throws {
    try directory.write("x", to: "a")
    let before = content("a")
    try directory.setMode(0o755, of: "a")
    #expect(content("a") != before)
    try directory.setMode(0o644, of: "a")
    #expect(content("a") == before)
  }

  @Test func `a missing path is absent, also below a file`() throws {
    try directory.write("x", to: "a")
    #expect(content("none") == .absent)
    #expect(content("a/below") == .absent)
  }

  @Test func `directories are equal whatever they contain, unless moved as a whole`() throws {
    try directory.makeDirectories("d")
    #expect(content("d") == .directory)
    try directory.write("x", to: "d/a")
    #expect(content("d") == .directory)
    let moved = content("d", isMovedAsWhole: true)
    #expect(isStamp(moved))
    #expect(content("d", isMovedAsWhole: true) == moved)
    try directory.makeDirectories("e")
    try directory.rename("d", to: "old")
    try directory.rename("e", to: "d")
    #expect(content("d", isMovedAsWhole: true) != moved)
  }

  @Test func `a symbolic link is compared by its target, not by the target's content`() throws {
    try directory.write("x", to: "a")
    try directory.link("link", to: "a")
    try directory.link("nowhere", to: "b")
    #expect(content("link") == .link("a"))
    #expect(content("nowhere") == .link("b"))
    try directory.remove("link")
    try directory.link("link", to: "b")
    #expect(content("link") == .link("b"))
  }

  @Test func `a pipe is special and is not read`() throws {
    try directory.makePipe("pipe")
    #expect(content("pipe") == .special)
  }

  @Test func `a file is read up to 1 MiB, and a larger one is compared by its stamp`() throws {
    try #require(ContentReader.largestFile == 1 << 20)
    let largest = String(repeating: "x", count: 1 << 20)
    try directory.write(largest, to: "a")
    try directory.write(largest + "x", to: "b")
    #expect(!isStamp(content("a")))
    let before = content("b")
    #expect(isStamp(before))
    #expect(content("b") == before)
    // The same bytes in another file.
    try directory.write(largest + "x", to: "c")
    try directory.rename("c", to: "b")
    #expect(content("b") != before)
  }

  @Test func `a file that cannot be read is compared by its stamp`() throws {
    try directory.write("x", to: "a")
    try directory.setMode(0, of: "a")
    // Root reads it all the same.
    #expect(isStamp(content("a")) || (try? directory.read("a")) == "x")
    #expect(content("a") != .absent)
  }

  @Test func `the first 256 files are read, and the others are compared by their stamps`() throws {
    let paths = (0..<258).map { (path: directory["\($0)"], isMovedAsWhole: false) }
    for (path, _) in paths { try directory.write("!<arch>", to: path.lastComponent.decoded) }
    let states = reader.states(of: paths)
    let contents = paths.map { states[$0.path]?.content }
    #expect(contents.firstIndex(where: isStamp) == 256)
    #expect(contents[256...].allSatisfy(isStamp))
    // Only the name tells more of the others.
    try directory.write("x", to: "a.o")
    let all = reader.states(of: paths + [(directory["a.o"], false)])
    #expect(all.values.count { $0.isBuilt } == 257)
  }

  // MARK: States

  private func state(_ name: String) -> FileState? {
    reader.states(of: [(directory[name], false)])[directory[name]]
  }

  @Test func `the state of a path has its content and the time of its creation`() throws {
    let start = FileTime.now()
    try directory.write("x", to: "a")
    let state = try #require(self.state("a"))
    #expect(state.content == content("a"))
    #expect(state.born.map { $0 >= start && $0 <= .latest() } ?? true)
    #expect(self.state("none") == FileState(content: .absent))
  }

  @Test(
    arguments: [
      ([0x7f, 0x45, 0x4c, 0x46, 2, 1], true), (Array("!<arch>\n".utf8), true),
      ([0xcf, 0xfa, 0xed, 0xfe], true), ([0xca, 0xfe, 0xba, 0xbe], true),
      ([0x00, 0x61, 0x73, 0x6d, 1], true), ([0x42, 0x43, 0xc0, 0xde], true),
      ([0x4d, 0x5a, 0x90, 0x00], true), ([0x7f, 0x45, 0x4c], false), ([], false),
      (Array("#!/bin/sh\n".utf8), false), (Array("MZ is a text".utf8), false),
      ([0x89, 0x50, 0x4e, 0x47], false),
    ] as [([UInt8], Bool)])
  func `programs and object files are known by their first bytes`(
    bytes: [UInt8], isBuilt: Bool
  ) throws {
    try File.write(bytes + [9, 9, 9, 9, 9, 9], to: directory["a"])
    #expect(state("a")?.isBuilt == isBuilt)
    try directory.link("link", to: "a")
    #expect(state("link")?.isBuilt == false)
  }

  @Test(arguments: [("a.o", true), (".a", true), ("a.c", false), ("o", false), ("a.o.c", false)])
  func `products of compilers are known by their names`(name: String, isBuilt: Bool) throws {
    try directory.write("text", to: name)
    #expect(state(name)?.isBuilt == isBuilt)
  }
}
