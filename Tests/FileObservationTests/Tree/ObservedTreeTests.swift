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
      while tree.scanPending(until: { true }) {}
      _ = tree.takeFindings()
      try directory.write("", to: "sub/f")
      tree.remove(rootAt: directory["sub"])
      #expect(tree.takeFindings().events.contains { $0.path == directory["sub/f"] })
    }
  }

  @Test func `what was made since the last poll is found when its directory becomes a root`() throws
  {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("sub")
    var tree = ObservedTree(filter: PathFilter(), source: nil)
    tree.add(.init(path: directory.path, coverage: .recursive))
    while tree.scanPending(until: { true }) {}
    tree.walk.isComparedOnce = true
    _ = tree.takeFindings()
    tree.walk.comparedUntil = .now()
    try directory.write("", to: "sub/f")
    usleep(20_000)
    tree.addAtOnce(.init(path: directory["sub"], coverage: .recursive), since: .now())
    #expect(tree.takeFindings().events.contains { $0.path == directory["sub/f"] })
  }

  /// A comparison between two slices of the first scan, as of a hint.
  @Test func `a directory that is pending is known by its own path, and not by a link to it`()
    throws
  {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("b")
    try directory.write(to: "b/f")
    let start = FileTime.now()
    var tree = ObservedTree(filter: PathFilter(), source: nil, followsLinks: true)
    tree.add(.init(path: directory.path, coverage: .recursive))
    let isUnderWay = tree.scanPending(until: { true })
    #expect(isUnderWay)
    try directory.link("a", to: "b")
    let root = try #require(tree.snapshot.entry(at: directory.path))
    tree.scanNow(root, for: .diff(since: start, .directory))
    while tree.scanPending(until: { true }) {}
    _ = tree.takeFindings()
    try directory.append("x", to: "b/f")
    tree.poll()
    let paths = tree.takeFindings().events.map(\.path)
    #expect(paths == [directory["b/f"]])
  }

  @Test func `a directory that is back between two looks of a poll is a change of a link to it`()
    throws
  {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("w")
    try directory.makeDirectories("o")
    try directory.link("w/l", to: "../o")
    var tree = ObservedTree(filter: PathFilter(), source: nil, followsLinks: true)
    tree.add(.init(path: directory["w"], coverage: .recursive))
    while tree.scanPending(until: { true }) {}
    tree.walk.isComparedOnce = true
    _ = tree.takeFindings()
    func poll(_ change: () throws -> Void = {}) throws -> [Path] {
      tree.poll()
      tree.pollMissingRoots()
      try change()
      tree.refreshLinks()
      return tree.takeFindings().events.map(\.path)
    }
    try directory.rename("o", to: "p")
    _ = try poll()
    #expect(try poll() == [])
    #expect(try poll { try directory.rename("p", to: "o") } == [directory["w/l"]])
    #expect(try poll() == [])
  }

  @Test func `a file that is a missing root is reported once when it is created`() throws {
    let directory = try TemporaryDirectory()
    var tree = ObservedTree(filter: PathFilter(), source: nil)
    tree.add(.init(path: directory["f"], coverage: .recursive))
    func eventsOfPoll() -> [RawEvent.Kind] {
      tree.poll()
      tree.pollMissingRoots()
      return tree.takeFindings().events.map(\.kind)
    }
    #expect(eventsOfPoll() == [])
    try directory.write(to: "f")
    #expect(eventsOfPoll() == [.created])
    #expect(eventsOfPoll() == [])
    try directory.write(to: "t")
    try directory.rename("t", to: "f")
    #expect(eventsOfPoll() == [.removed, .created])
    #expect(eventsOfPoll() == [])
  }

  @Test func `a volume whose data directory is swapped is reported once`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("..0")
    try directory.write("0", to: "..0/app.yaml")
    try directory.link("..data", to: "..0")
    try directory.link("app.yaml", to: "..data/app.yaml")
    var tree = ObservedTree(filter: PathFilter(), source: nil)
    tree.add(.init(path: directory["app.yaml"], coverage: .named))
    func changesOfPoll() -> Set<Path> {
      tree.poll()
      tree.pollMissingRoots()
      tree.refreshLinks()
      tree.walk.comparedUntil = .now()
      return Set(tree.takeFindings().events.map(\.path))
    }
    _ = changesOfPoll()
    for number in 1...3 {
      try directory.makeDirectories("..\(number)")
      try directory.write("\(number)", to: "..\(number)/app.yaml")
      try directory.link("..data_tmp", to: "..\(number)")
      try directory.rename("..data_tmp", to: "..data")
      try directory.remove("..\(number - 1)")
      #expect(changesOfPoll() == [directory["app.yaml"]])
      #expect(changesOfPoll() == [])
    }
    try directory.write("written", to: "..3/app.yaml")
    #expect(changesOfPoll() == [directory["app.yaml"]])
  }
}
