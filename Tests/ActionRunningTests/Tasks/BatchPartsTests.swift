import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Large batches, and tasks that watch the same.
struct BatchPartsTests {
  private static func task(_ name: String, watch: Path...) -> TaskDefinition {
    TaskDefinition(
      name, Command("true"), triggers: TaskTriggers(watched: watch.map { WatchedPath($0) }))
  }

  private func storage(_ changes: [ChangeBatch.Change]) -> UnsafePointer<ChangeBatch.Change>? {
    changes.withUnsafeBufferPointer(\.baseAddress)
  }

  private func parts(_ changes: [ChangeBatch.Change], _ tasks: TaskDefinition...) -> BatchParts {
    BatchParts(ChangeBatch(number: 1, changes: changes), TaskGraph.audiences(of: tasks))
  }

  private let changes: [ChangeBatch.Change] = [
    .of("/a/1", .modified), .of("/b/1", .modified), .of("/a/2", .modified),
  ]

  @Test func `tasks that watch the same share one list`() {
    let parts = parts(
      changes, Self.task("x", watch: "/a"), Self.task("y", watch: "/a"),
      Self.task("all", watch: "/"), Self.task("both", watch: "/a", "/b"))
    #expect(parts["x"].map(\.path) == ["/a/1", "/a/2"])
    #expect(storage(parts["x"]) == storage(parts["y"]))
    // Who receives the whole batch, receives the batch itself.
    #expect(storage(parts["all"]) == storage(changes))
    #expect(storage(parts["both"]) == storage(changes))
    #expect(parts["other"].isEmpty)
  }

  @Test func `the union of parts is in the order of the batch`() {
    let parts = parts(
      changes + [.of("/c/1", .modified)], Self.task("x", watch: "/a"),
      Self.task("y", watch: "/b"), Self.task("all", watch: "/"))
    #expect(parts.union(of: [parts["y"], parts["x"]]) == changes)
    #expect(parts.union(of: [parts["x"], parts["all"]]).count == 4)
    #expect(parts.union(of: []) == [])
  }
}
