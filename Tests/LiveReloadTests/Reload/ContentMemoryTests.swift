import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

struct ContentMemoryTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("one", to: "a")
    try directory.write("two", to: "b")
  }

  @Test func `unchanged content that is written again has not changed`() throws {
    var memory = ContentMemory()
    let paths = [directory["a"], directory["b"]]
    #expect(memory.changed(paths) == paths)
    try directory.write("one", to: "a")
    try directory.write("three", to: "b")
    #expect(memory.changed(paths) == [directory["b"]])
    try directory.remove("a")
    #expect(memory.changed([directory["a"]]) == [directory["a"]])
    #expect(memory.changed([directory["a"]]).isEmpty)
    try directory.write("one", to: "a")
    #expect(memory.changed([directory["a"]]) == [directory["a"]])
  }

  @Test func `content that cannot be compared has changed`() throws {
    var memory = ContentMemory()
    try directory.makeDirectories("d")
    for _ in 1...2 { #expect(memory.changed([directory["d"]]) == [directory["d"]]) }
  }
}
