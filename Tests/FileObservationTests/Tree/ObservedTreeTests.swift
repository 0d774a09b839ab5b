import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A tree without a source of hints, which is polled.
struct ObservedTreeTests {
  /// The clock of file timestamps ticks so slowly that a file may seem older than entries that
  /// existed before it.
  @Test func `a change right after the start is reported, also when a root is removed`() throws {
    for _ in 1...20 {
      let directory = try TemporaryDirectory()
      try directory.makeDirectories("sub")
      var tree = ObservedTree(filter: PathFilter(), source: nil)
      for root in [directory.path, directory["sub"]] {
        tree.add(.init(path: root, coverage: .recursive))
      }
      while tree.scanPending(atMost: 8) {}
      _ = tree.takeFindings()
      try directory.write("", to: "sub/f")
      tree.remove(rootAt: directory["sub"])
      #expect(tree.takeFindings().events.contains { $0.path == directory["sub/f"] })
    }
  }
}
