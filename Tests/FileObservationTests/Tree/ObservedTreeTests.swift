import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A tree without a source of hints: it is polled.
struct ObservedTreeTests {
  /// The clock that stamps files ticks so slowly that a file may seem older than what was there
  /// before it.
  @Test func `what comes right after the start is told, also when a root is removed`() throws {
    for _ in 1...20 {
      let folder = try TemporaryDirectory()
      try folder.makeDirectories("sub")
      var tree = ObservedTree(filter: PathFilter(), source: nil)
      for root in [folder.path, folder["sub"]] {
        tree.add(.init(path: root, coverage: .recursive))
      }
      while tree.visitPending(atMost: 8) {}
      _ = tree.takeFindings()
      try folder.write("", to: "sub/f")
      tree.remove(rootAt: folder["sub"])
      #expect(tree.takeFindings().events.contains { $0.path == folder["sub/f"] })
    }
  }
}
