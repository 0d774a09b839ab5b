import Dispatch
import SystemCalls
import Synchronization
import TestSupport
import Testing

@testable import FileObservation

/// A comparison of files on a made-up disk, seen by somebody who looks at each file as soon as they
/// are told of it.
private final class Compared: Sendable {
  let disk = FakeDisk()
  let start: FileTime
  let comparison: ContentComparison

  init(_ prepare: (FakeDisk) -> Void = { _ in }) {
    prepare(disk)
    disk.makeFolder("/elsewhere")
    disk.write("", to: "/elsewhere/file")
    start = disk.now
    // What has changed so far is older than the start, what changes from now on is not.
    disk.write("", to: "/elsewhere/file")
    comparison = ContentComparison(
      source: disk, mostFiles: 1000, wanted: [.created, .modified, .removed, .renamed])
  }

  /// A burst has ended. What of it is told of?
  func burst(_ changes: ChangeBatch.Change...) async -> [ChangeBatch.Change] {
    await withCheckedContinuation { continuation in
      comparison.follow(changes) { continuation.resume(returning: $0) }
    }
  }

  /// Reads files of a folder ahead; `late` happens before they are remembered.
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

  /// True if a change of the file with what it holds now would be left out.
  func knows(_ path: Path) async -> Bool {
    await burst(.modified(path)).isEmpty
  }
}

struct ContentInterleavingTests {
  @Test func `told of A, A written again: nothing`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    compared.disk.write("A", to: "/f")
    #expect(await compared.burst(.modified("/f")) == [])
  }

  @Test func `written while it is read: it counts, and the next time too`() async {
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

  @Test func `written after it was read and before it is handed over: it counts again`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    let told = await withCheckedContinuation { continuation in
      compared.comparison.follow([.modified("/f")]) { told in
        compared.disk.write("B", to: "/f")
        continuation.resume(returning: told)
      }
    }
    #expect(told == [.modified("/f")])
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
  }

  @Test func `a change that was seen in the file when it was told of is told of once`() async {
    let compared = Compared { $0.write("O", to: "/f") }
    compared.disk.write("A", to: "/f")
    compared.disk.write("B", to: "/f")
    // The event of A has been noticed, that of B has not; both are handed over with B.
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
    #expect(await compared.burst(.modified("/f")) == [])
  }

  @Test func `there and back within one burst is nothing, in two it is two changes`() async {
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

  @Test func `another file of the same size in its place counts`() async {
    let compared = Compared { $0.write("abc", to: "/f") }
    await compared.readAhead("/f")
    compared.disk.replace("/f", with: "abd")
    #expect(await compared.burst(.modified("/f")) == [.modified("/f")])
  }

  @Test func `bursts are handed over in their order, and none after the stop`() async {
    let compared = Compared()
    let order = Log<Int>()
    for number in 0..<100 {
      compared.comparison.follow([.removed("/f")]) { _ in order.note(number) }
    }
    _ = await compared.burst(.removed("/f"))
    #expect(order.entries == Array(0..<100))
    compared.comparison.follow([.modified("/f")]) { _ in compared.comparison.stop() }
    compared.comparison.follow([.modified("/f")]) { _ in Issue.record("it was stopped") }
    #expect(await compared.readAhead("/f") == false)
  }
}

struct ContentReadAheadTests {
  private static func prepare(_ disk: FakeDisk) {
    for folder: Path in ["/", "/p", "/p/d", "/p/new", "/q"] { disk.makeFolder(folder) }
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

  @Test func `one that has changed since the start is not taken for what it was`() async {
    let compared = Compared(Self.prepare)
    compared.disk.write("A", to: "/p/d/f")
    await compared.readAhead("/p/d/f")
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `nor one that changes between being read and being remembered`() async {
    let compared = Compared(Self.prepare)
    await compared.readAhead("/p/d/f") { compared.disk.write("A", to: "/p/d/f") }
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `nor one in a folder that took the place of another`() async {
    let compared = Compared(Self.prepare)
    compared.disk.rename("/p/d", to: "/p/old")
    compared.disk.rename("/p/new", to: "/p/d")
    // Its own times tell nothing of it.
    await compared.readAhead("/p/d/f")
    #expect(!(await compared.knows("/p/d/f")))
  }

  @Test func `nor where a folder further up did, before or after the reading`() async {
    for isBefore in [true, false] {
      let compared = Compared { disk in
        Self.prepare(disk)
        disk.makeFolder("/x")
        disk.makeFolder("/x/d")
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

  @Test func `what is made beside it, or beside its folder, does not matter`() async {
    for neighbor: Path in ["/p/d/made", "/p/made", "/made"] {
      let compared = Compared(Self.prepare)
      compared.disk.write("", to: neighbor)
      await compared.readAhead("/p/d/f")
      #expect(await compared.knows("/p/d/f"), "\(neighbor)")
    }
  }

  @Test func `what was told of meanwhile is not overwritten`() async {
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
