import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Files on disk that a build has written before and after a save.
@Suite struct BuildOutputsTests {
  @Test func `what is not older than a save becomes older, if it is an output`() throws {
    let directory = try TemporaryDirectory()
    let save = FileTime(nanoseconds: 1_700_000_000_000_000_000)
    let written = [
      "a.o": 1, "same.o": 0, "out/deep/b.o": 1, "old.o": -1000, "a.c": 1, ".git/c.o": 1,
      "node_modules/d.o": 1,
    ]
    for (name, time) in written {
      try File.makeDirectories(directory[name].parent ?? directory.path)
      try directory.write(to: name)
      #expect(setTimes(save.advanced(by: .nanoseconds(time)), of: directory[name]))
    }
    let outputs = BuildOutputs(directories: [directory.path])
    #expect(outputs.outdate(before: save, where: { FileKind.isBuilt($0) }))
    let outdated = try written.keys.filter { name in
      try FileStatus(of: directory[name]).modified == save.advanced(by: .nanoseconds(-1))
    }
    #expect(outdated.sorted() == ["a.o", "out/deep/b.o", "same.o"])
  }
}
