import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// Files of other tools, which are named with what to write, and never translated in part.
struct ForeignFileTests {
  @Test(arguments: ForeignFile.all.map(\.name))
  func `a file of another tool is named with what to type`(_ name: String) throws {
    let directory = try projectDirectory([
      name: "cmd = \"x -ldflags=\\\"-s\\\"\"\n", "Cargo.toml": "",
    ])
    let file = try #require(ForeignFile.all.first { $0.name == name })
    let note = "\(name) is for \(file.tool) and not read here; \(file.remedy)"
    #expect(file.remedy.includes("as in: w"))
    #expect(DetectedProject(directory.project)?.unusedFiles == [note])
    #expect(throws: Failure.usage(note)) {
      try ProjectSource(Path(name), directory: directory.path).read()
    }
  }

  @Test func `a file that does not exist is not named`() throws {
    #expect(ForeignFile.notes(in: try projectDirectory(["a/.air.toml": ""]).project) == [])
  }
}
