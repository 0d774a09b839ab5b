import SystemCalls
import TestSupport
import Testing

@testable import LiveReload

struct ContentMemoryTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    try folder.write("one", to: "a")
    try folder.write("two", to: "b")
  }

  @Test func `what is written again as it was has not changed`() throws {
    var memory = ContentMemory()
    let paths = [folder["a"], folder["b"]]
    #expect(memory.changed(paths) == paths)
    try folder.write("one", to: "a")
    try folder.write("three", to: "b")
    #expect(memory.changed(paths) == [folder["b"]])
    try folder.remove("a")
    #expect(memory.changed([folder["a"]]) == [folder["a"]])
    #expect(memory.changed([folder["a"]]).isEmpty)
    try folder.write("one", to: "a")
    #expect(memory.changed([folder["a"]]) == [folder["a"]])
  }

  @Test func `what cannot be compared has changed`() throws {
    var memory = ContentMemory()
    try folder.makeDirectories("d")
    for _ in 1...2 { #expect(memory.changed([folder["d"]]) == [folder["d"]]) }
  }
}
