import Dispatch
import SystemCalls
import Synchronization
import TestSupport
import Testing

@testable import FileObservation

/// A comparison of files on a fake disk, with a reader of each reported file.
private final class Compared: Sendable {
  let disk = FakeDisk()
  let start: FileTime
  let comparison: ContentComparison

  init(_ prepare: (FakeDisk) -> Void = { _ in }) {
    prepare(disk)
    disk.makeDirectory("/elsewhere")
    disk.write("", to: "/elsewhere/file")
    start = disk.now
    // Changes so far are before the start, later ones are not.
    disk.write("", to: "/elsewhere/file")
    comparison = ContentComparison(
      source: disk, mostFiles: 1000, wanted: [.created, .modified, .removed, .renamed])
  }

  /// Ends a burst, and returns the reported changes.
  func burst(_ changes: ChangeBatch.Change...) async -> [ChangeBatch.Change] {
    await withCheckedContinuation { continuation in
      comparison.filterUnchanged(changes) { continuation.resume(returning: $0) }
    }
  }

  /// Reads files of a directory ahead; `late` happens before they are remembered.
  @discardableResult
  func readAhead(_ paths: Path..., late: () -> Void = {}) async -> Bool {
    let samples = paths.compactMap { path in disk.sample(of: path).map { (path, $0) } }
    late()
    return await withCheckedContinuation { continuation in
      comparison.learn(samples, of: paths[0].parent ?? "/", since: start) {
        continuation.resume(returning: $0)
      }
    }
  }

  /// Whether a change to the present content would be removed.
  func knows(_ path: Path) async -> Bool {
    await burst(.modified(path)).isEmpty
  }
}

struct ContentInterleavingTests {
  @Test func `the reported content written again is not reported`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    compared.disk.write("A", to: "/f")
    #expect(await compared.burst(.modified("/f")) == [])
  }

  @Test func `a file written while it is read is reported, also the next time`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    let disk = compared.disk
    await compared.readAhead("/f")
    disk.write("A", to: "/f")
    disk.meanwhile.withLock { $0 = { disk.write("B", to: "/f") } }
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    // The event of B arrives.
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    #expect(await compared.burst(.modified("/f")) == [])
  }

  @Test func `a file written between reading and delivery is reported again`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    let reported = await withCheckedContinuation { continuation in
      compared.comparison.filterUnchanged([.modified("/f")]) { reported in
        compared.disk.write("B", to: "/f")
        continuation.resume(returning: reported)
      }
    }
    #expect(reported == [.modified("/f")])
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
  }

  @Test func `content that was read before its event is reported once`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    compared.disk.write("B", to: "/f")
    // The event of A has been noticed, that of B has not; B is read for both.
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    #expect(await compared.burst(.modified("/f")) == [])
  }

  @Test func `content that returns within one burst is not reported, within two it is twice`() async
  {
    let compared = Compared { $0.write("O", to: "/f") }
    await compared.readAhead("/f")
    compared.disk.replace("/f", with: "A")
    compared.disk.replace("/f", with: "O")
    #expect(await compared.burst(.modified("/f")) == [])
    compared.disk.replace("/f", with: "A")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    compared.disk.replace("/f", with: "O")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
  }

  @Test func `a replacement of the same size is reported`() async {
    let compared = Compared { $0.write("abc", to: "/f") }
    await compared.readAhead("/f")
    compared.disk.replace("/f", with: "abd")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
  }

  @Test func `bursts are delivered in order, and none after the stop`() async {
    let compared = Compared()
    let order = Log<Int>()
    for number in 0..<100 {
      compared.comparison.filterUnchanged([.removed("/f")]) { _ in order.note(number) }
    }
    _ = await compared.burst(.removed("/f"))
    #expect(order.entries == Array(0..<100))
    compared.comparison.filterUnchanged([.modified("/f")]) { _ in compared.comparison.stop() }
    compared.comparison.filterUnchanged([.modified("/f")]) { _ in Issue.record("it was stopped") }
    #expect(await compared.readAhead("/f") == false)
  }
}

struct ContentReadAheadTests {
  private static func prepare(_ disk: FakeDisk) {
    for directory: Path in ["/", "/p", "/p/d", "/p/new", "/q"] { disk.makeDirectory(directory) }
    disk.write("O", to: "/p/d/f")
    disk.write("N", to: "/p/new/f")
  }

  @Test func `a file that was read ahead is compared at its first change`() async {
    let compared = Compared(Self.prepare)
    #expect(await compared.readAhead("/p/d/f"))
    #expect(await compared.knows("/p/d/f"))
    compared.disk.write("A", to: "/p/d/f")
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `a file that has changed since the start is not remembered`() async {
    let compared = Compared(Self.prepare)
    compared.disk.write("A", to: "/p/d/f")
    await compared.readAhead("/p/d/f")
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `a file that changes between reading and remembering is not remembered`() async {
    let compared = Compared(Self.prepare)
    await compared.readAhead("/p/d/f") { compared.disk.write("A", to: "/p/d/f") }
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `a file in a replaced directory is not remembered`() async {
    let compared = Compared(Self.prepare)
    compared.disk.rename("/p/d", to: "/p/old")
    compared.disk.rename("/p/new", to: "/p/d")
    // Its own times do not show that.
    await compared.readAhead("/p/d/f")
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `a file below a replaced ancestor is not remembered`() async {
    for isBefore in [true, false] {
      let compared = Compared { disk in
        Self.prepare(disk)
        disk.makeDirectory("/x")
        disk.makeDirectory("/x/d")
        disk.write("X", to: "/x/d/f")
      }
      let exchange = {
        compared.disk.rename("/p", to: "/old")
        compared.disk.rename("/x", to: "/p")
      }
      if isBefore { exchange() }
      await compared.readAhead("/p/d/f") { if !isBefore { exchange() } }
      #expect(!(await compared.knows("/p/d/f")))
    }
  }

  @Test func `new siblings of a file or its directory do not matter`() async {
    for neighbor: Path in ["/p/d/made", "/p/made", "/made"] {
      let compared = Compared(Self.prepare)
      compared.disk.write("", to: neighbor)
      await compared.readAhead("/p/d/f")
      #expect(await compared.knows("/p/d/f"), "\(neighbor)")
    }
  }

  @Test func `reading ahead does not overwrite reported content`() async {
    let compared = Compared(Self.prepare)
    #expect(await compared.burst(.modified("/p/d/f")).count == 1)
    await compared.readAhead("/p/d/f")
    compared.disk.write("A", to: "/p/d/f")
    #expect(await compared.burst(.modified("/p/d/f")).count == 1)
    await compared.readAhead("/p/d/f")
    compared.disk.write("O", to: "/p/d/f")
    #expect(await compared.burst(.modified("/p/d/f")).count == 1)
  }
}
