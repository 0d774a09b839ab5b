import FileObservation
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The states of inputs and outputs.
struct FileSetStateTests {
  private func outputs(
    _ directory: TemporaryDirectory, _ patterns: GlobPattern..., mostEntries: Int = 100
  ) -> FileSetState {
    FileSetState(
      of: DeclaredWrites(patterns, base: directory.path), watched: [], mostEntries: mostEntries)
  }

  @Test func `outputs are found by their patterns, also in ignored directories`() throws {
    let directory = try TemporaryDirectory()
    for name in ["dist/a/b.js", "src/x.o", ".git/y.o", "node_modules/p/z.o", "lib/dist/c"] {
      let path = directory.path.appending(name)
      try File.makeDirectories(path.parent ?? "/")
      try File.write([], to: path)
    }
    #expect(outputs(directory, "/dist").count == 3)
    #expect(outputs(directory, "dist/**").count == 3)
    #expect(outputs(directory, "dist").count == 5)
    #expect(outputs(directory, "dist/*/*.js").count == 1)
    #expect(outputs(directory, "*.o").count == 2)
    #expect(outputs(directory, "src/x.o", "lib/dist/c").count == 2)
    #expect(outputs(directory, "*.o", "!/src/*.o").count == 1)
    #expect(outputs(directory, "out").count == 0)
    #expect(!outputs(directory, "out").isIncomplete)
    // The directory has 5 entries, and those with the pattern 2.
    #expect(!outputs(directory, "/dist", mostEntries: 7).isIncomplete)
    #expect(outputs(directory, "/dist", mostEntries: 6).isIncomplete)
    // What is in the target of a link is not known.
    try File.makeLink(directory.path.appending("file"), to: "src/x.o")
    try File.makeLink(directory.path.appending("out"), to: "src")
    #expect(!outputs(directory, "file").isIncomplete)
    #expect(outputs(directory, "out").isIncomplete)
  }

  @Test func `each change of a file shows`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path.appending("a")
    try File.write([1], to: path)
    try File.write([1], to: directory.path.appending("b"))
    func inputs() -> FileSetState {
      FileSetState(of: [WatchedPath(directory.path)], options: ObserverOptions()) { _, _ in true }
    }
    var first = inputs()
    // On a busy machine, the clock of files goes on before they are looked at.
    for _ in 0..<100 where !first.isRacy {
      try File.write([1], to: path)
      first = inputs()
    }
    #expect(first.count == 3 && first.isRacy && !first.isIncomplete)
    #expect(first.isSame(as: inputs()))
    #expect(setTimes(FileTime(nanoseconds: 1_000_000_000), of: path))
    #expect(!first.isSame(as: inputs()))
    let second = inputs()
    try File.move(path, to: directory.path.appending("c"))
    #expect(!second.isSame(as: inputs()))
    try File.move(directory.path.appending("c"), to: path)
    // A rename moves the time of the change as well.
    #expect(!second.isSame(as: inputs()))
  }

  @Test func `inputs are what an observer reports`() throws {
    let directory = try TemporaryDirectory()
    for (name, text) in [
      (".gitignore", "*.log\n"), ("a.c", ""), ("b.log", ""), ("node_modules/x.c", ""),
      ("src/d.c", ""), ("src/e.h", ""),
    ] {
      let path = directory.path.appending(name)
      try File.makeDirectories(path.parent ?? "/")
      try File.write(Array(text.utf8), to: path)
    }
    try File.makeLink(directory.path.appending("link"), to: "src")
    func paths(_ root: Path, isRecursive: Bool = true) -> [String] {
      var found: [String] = []
      let options = ObserverOptions(filter: PathFilter(base: directory.path))
      _ = FileSetState(of: [WatchedPath(root, isRecursive: isRecursive)], options: options) {
        path, type in
        if type != .directory { found.append("\(path.shown(in: directory.path))") }
        return true
      }
      return found.sorted()
    }
    #expect(paths(directory.path) == [".gitignore", "a.c", "link", "src/d.c", "src/e.h"])
    #expect(paths(directory.path, isRecursive: false) == [".gitignore", "a.c", "link"])
    #expect(paths(directory.path.appending("src")) == ["src/d.c", "src/e.h"])
    #expect(paths(directory.path.appending("a.c")) == ["a.c"])
    #expect(paths(directory.path.appending("none")) == [])
    #expect(paths(directory.path.appending("link")).suffix(2) == ["link/d.c", "link/e.h"])
  }
}
