import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A tree of which nobody tells: what has changed is found by looking.
struct ObservedTreeTests {
  /// The clock that stamps files ticks so slowly that a file may seem older than what was there
  /// before it.
  @Test func `what comes right after the start is told, also when a root is removed`() throws {
    for _ in 1...20 {
      let folder = try TemporaryFolder()
      try folder.makeDirectories("sub")
      var tree = ObservedTree(filter: PathFilter(), watcher: nil)
      for root in [folder.path, folder["sub"]] {
        tree.add(.init(path: root, coverage: .recursive), since: .latest())
      }
      while tree.visitPending(atMost: 8) {}
      _ = tree.takeFindings()
      try folder.write("", to: "sub/f")
      tree.remove(rootAt: folder["sub"])
      #expect(tree.takeFindings().events.contains { $0.path == folder["sub/f"] })
    }
  }

  @Test func `where each look compares, nothing is kept for a second look`() throws {
    let folder = try TemporaryFolder()
    var tree = ObservedTree(filter: PathFilter(), watcher: nil)
    tree.add(.init(path: folder.path, coverage: .recursive), since: .latest())
    while tree.visitPending(atMost: 8) {}
    try folder.write(to: "f")
    tree.lookAtUnwatched(tree.unwatched, since: .latest())
    #expect(tree.takeFindings().events.contains { $0.path == folder["f"] })
    #expect(tree.toldMeanwhile == nil)
  }
}
