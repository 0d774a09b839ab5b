import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct TestMapTests {
  private func map(_ entries: KeyValuePairs<String, [String]>) throws -> TestMap {
    TestMap(
      try entries.map { pattern, targets in
        TestMap.Entry(
          try RegularExpression(Array(pattern.utf8)), targets: targets.map { Array($0.utf8) })
      })
  }

  private func withFiles(_ names: [String], _ body: (Path) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    for name in names { try File.write("", to: directory.path.appending(name)) }
    try body(directory.path)
  }

  private func tests(
    _ map: TestMap, _ directory: Path, _ changes: ChangeBatch.Change...
  ) -> [String]? {
    map.tests(for: RunTrigger(.change, changes: changes), in: directory)?.map(\.description)
  }

  @Test func `all entries that match count, and each existing test once`() throws {
    let map = try map(["(.*)[.]py": ["test_$1.py", "$1_test.py", "t"], "a.*": ["test_a.py", "t"]])
    try withFiles(["test_a.py", "t", "test_b.py"]) { directory in
      let a = ChangeBatch.Change.of(directory.appending("a.py"), .modified)
      let b = ChangeBatch.Change.of(directory.appending("b.py"), .created)
      #expect(tests(map, directory, a, b) == ["test_a.py", "t", "test_b.py"])
    }
  }

  @Test func `a change without an existing test means all tests`() throws {
    let map = try map(["(.*)[.]py": ["test_$1.py"]])
    try withFiles(["test_a.py"]) { directory in
      let a = ChangeBatch.Change.of(directory.appending("a.py"), .modified)
      for name in ["b.py", "a.toml", "../a.py"] {
        let other = ChangeBatch.Change.of(Path(name).absolute(from: directory), .modified)
        #expect(tests(map, directory, a, other) == nil)
      }
      #expect(map.tests(for: RunTrigger(.start), in: directory) == nil)
      #expect(map.tests(for: RunTrigger(.change), in: directory) == nil)
      #expect(map.tests(for: RunTrigger(.key, changes: [a]), in: directory) == nil)
      let batch = ChangeBatch(number: 1, changes: [a], overflow: true)
      #expect(map.tests(for: RunTrigger(.change, batch), in: directory) == nil)
    }
  }

  @Test func `the former name of a file counts as well`() throws {
    let map = try map(["(.*)[.]py": ["test_$1.py"]])
    try withFiles(["test_a.py"]) { directory in
      let change = ChangeBatch.Change.of(
        directory.appending("b.py"), .renamed, from: directory.appending("a.py"))
      #expect(tests(map, directory, change) == ["test_a.py"])
    }
  }

  @Test func `a path holds any bytes`() throws {
    let map = try map(["(.)[.]py": ["t$1$0$"]])
    try withFiles([]) { directory in
      let test: [UInt8] = [0x74, 0xFF, 0xFF] + Array(".py$".utf8)
      try File.write("", to: directory.appending(test))
      let changed = directory.appending([0xFF] + Array(".py".utf8))
      let trigger = RunTrigger(.change, changes: [.of(changed, .modified)])
      #expect(map.tests(for: trigger, in: directory)?.map(\.bytes) == [test])
    }
  }

  @Test(arguments: [
    ("pytest {tests}", "pytest X"), ("a {tests}; b {tests}|c", "a X; b X|c"), ("({tests})", "(X)"),
    ("a{tests}", nil), ("{tests}b", nil), ("'{tests}'", nil), ("{tests", nil),
  ])
  func `in a shell line, the word alone is replaced`(line: String, filled: String?) {
    let text = TestMap.filling(Array(line.utf8), with: [0x58])
    #expect(text.map { String(decoding: $0, as: UTF8.self) } == filled)
  }
}
