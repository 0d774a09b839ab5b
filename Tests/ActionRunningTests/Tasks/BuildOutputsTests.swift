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
    func outdate(_ doubts: BuildOutputs.Doubt...) throws -> [String] {
      #expect(outputs.outdate(doubts, where: { FileKind.isBuilt($0) }))
      return try written.keys.filter { name in
        let earlier = doubts.map(\.saved).min()?.advanced(by: .nanoseconds(-1))
        return try FileStatus(of: directory[name]).modified == earlier
      }.sorted()
    }
    let saved = BuildOutputs.Doubt(since: save, saved: save)
    #expect(try outdate(saved) == ["a.o", "out/deep/b.o", "same.o"])
    // What a stopped build was writing, for what was saved before.
    #expect(setTimes(save, of: directory["a.o"]))
    #expect(setTimes(save.advanced(by: .seconds(2)), of: directory["same.o"]))
    let half = BuildOutputs.Doubt(
      since: save, until: save.advanced(by: .seconds(1)), saved: save.advanced(by: .seconds(-1)))
    #expect(try outdate(half) == ["a.o"])
  }
}
