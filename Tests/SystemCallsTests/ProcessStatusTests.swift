#if os(Linux)

import Testing

@testable import SystemCalls

@Suite struct ProcessStatusTests {
  /// `cminflt` is the 11th field of the line, `starttime` the 22nd.
  private func line(name: String = "watchrun", childFaults: Int, start: Int) -> [UInt8] {
    let head = "42 (\(name)) S 1 42 42 0 -1 4194304 310 \(childFaults) 0 0 1 2 0 0 20 0 1 0 "
    return Array("\(head)\(start) 1000 200\n".utf8)
  }

  @Test(arguments: ["watchrun", "a) b (c", ""]) func `the start is after any name`(
    name: String
  ) throws {
    let early = try #require(ProcessStatus(line(name: name, childFaults: 0, start: 300)))
    let late = try #require(ProcessStatus(line(name: name, childFaults: 0, start: 600)))
    #expect(early.startSinceBoot > 0)
    #expect(late.startSinceBoot == 2 * early.startSinceBoot)
  }

  @Test func `a process without children may take longer to load`() throws {
    let shell = try #require(ProcessStatus(line(childFaults: 12, start: 1)))
    let fresh = try #require(ProcessStatus(line(childFaults: 0, start: 1)))
    #expect(shell.hadChildren)
    #expect(!fresh.hadChildren)
    #expect(fresh.longestLoading > shell.longestLoading)
  }

  @Test(arguments: ["", "42 watchrun S 1", "42 (watchrun) S 1 2 3"])
  func `an incomplete line says nothing`(text: String) {
    #expect(ProcessStatus(Array(text.utf8)) == nil)
  }

  @Test func `this process has a start`() throws {
    let contents = try #require(try fileContents(of: "/proc/self/stat"))
    #expect(try #require(ProcessStatus(contents)).startSinceBoot > 0)
    #expect(FileTime.processStart() <= FileTime.latest())
  }
}

#endif  // os(Linux)
