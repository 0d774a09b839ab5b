import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct ReadAheadWalkTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    for name in ["a/b", "node_modules", "empty"] { try folder.makeDirectories(name) }
    for name in ["f", "g.c", "a/f", "a/b/f", "a/b/g.c", "node_modules/f", ".hidden"] {
      try folder.write(to: name)
    }
    try folder.link("l", to: "f")
    try folder.link("up", to: "a")
  }

  private func root(
    _ name: String = "", _ coverage: Coverage = .recursive
  ) -> BackendConfiguration.Root {
    .init(path: folder[name], coverage: coverage)
  }

  /// What is walked, relative to the folder; and the largest slice.
  private func walk(
    _ roots: BackendConfiguration.Root..., filter: PathFilter = PathFilter(), atMost limit: Int = 64
  ) -> [String] {
    var walk = ReadAheadWalk(roots, filter: filter)
    var found: [String] = []
    while let slice = walk.next(atMost: limit) {
      #expect(slice.files.count <= limit)
      #expect(slice.files.allSatisfy { $0.parent == slice.folder })
      found += slice.files.compactMap { $0.relative(to: folder.path)?.string }
    }
    return found.sorted()
  }

  @Test func `finds every file that is told of, and follows no links`() {
    #expect(walk(root()) == [".hidden", "a/b/f", "a/b/g.c", "a/f", "f", "g.c"])
    #expect(walk(root("", .entries)) == [".hidden", "f", "g.c"])
    #expect(walk(root("a/b"), root("f", .named)) == ["a/b/f", "a/b/g.c", "f"])
    #expect(walk(root("up"), root("l", .named), root("none")) == [])
  }

  @Test func `goes in small steps`() throws {
    for number in 0..<20 { try folder.write(to: "a/b/n\(number)") }
    #expect(walk(root("a/b"), atMost: 3).count == 22)
  }

  @Test func `leaves out what is ignored or filtered`() throws {
    let filter = PathFilter(base: folder.path, extensions: [Array("c".utf8)])
    #expect(walk(root(), filter: filter) == ["a/b/g.c", "g.c"])
    try folder.write("b/\n", to: "a/.ignore")
    #expect(walk(root("a")) == ["a/.ignore", "a/f"])
  }
}
