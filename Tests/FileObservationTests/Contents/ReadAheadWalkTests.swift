import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct ReadAheadWalkTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for name in ["a/b", "node_modules", "empty"] { try directory.makeDirectories(name) }
    for name in ["f", "g.c", "a/f", "a/b/f", "a/b/g.c", "node_modules/f", ".hidden"] {
      try directory.write(to: name)
    }
    try directory.link("l", to: "f")
    try directory.link("up", to: "a")
  }

  private func root(
    _ name: String = "", _ coverage: Coverage = .recursive
  ) -> BackendConfiguration.Root {
    .init(path: directory[name], coverage: coverage)
  }

  /// The files found, relative to the directory, and the size of the largest slice.
  private func walk(
    _ roots: BackendConfiguration.Root..., filter: PathFilter = PathFilter(), atMost limit: Int = 64
  ) -> [String] {
    var walk = ReadAheadWalk(roots, filter: filter)
    var found: [String] = []
    while let slice = walk.next(atMost: limit) {
      #expect(slice.files.count <= limit)
      #expect(slice.files.allSatisfy { $0.parent == slice.directory })
      found += slice.files.compactMap { $0.relative(to: directory.path)?.string }
    }
    return found.sorted()
  }

  @Test func `every watched file is found, and no link is followed`() {
    #expect(walk(root()) == [".hidden", "a/b/f", "a/b/g.c", "a/f", "f", "g.c"])
    #expect(walk(root("", .entries)) == [".hidden", "f", "g.c"])
    #expect(walk(root("a/b"), root("f", .named)) == ["a/b/f", "a/b/g.c", "f"])
    #expect(walk(root("up"), root("l", .named), root("none")) == [])
  }

  @Test func `slices are small`() throws {
    for number in 0..<20 { try directory.write(to: "a/b/n\(number)") }
    #expect(walk(root("a/b"), atMost: 3).count == 22)
  }

  @Test func `ignored and filtered files are left out`() throws {
    let filter = PathFilter(base: directory.path, extensions: ["c"])
    #expect(walk(root(), filter: filter) == ["a/b/g.c", "g.c"])
    try directory.write("b/\n", to: "a/.ignore")
    #expect(walk(root("a")) == ["a/.ignore", "a/f"])
  }
}
