import Dispatch
import SystemCalls
import Synchronization
import TestSupport
import Testing

@testable import FileObservation

/// A comparison of files on a fake disk, with a reader of each reported file.
private final class Compared: Sendable {
  let disk = FakeDisk()
  let comparison: ContentComparison

  init(_ prepare: (FakeDisk) -> Void = { _ in }) {
    prepare(disk)
    comparison = ContentComparison(
      mostFiles: 1000, wanted: [.created, .modified, .removed, .renamed]
    ) { [disk] in disk.digest(of: $0) }
  }

  /// Ends a burst, and returns the reported changes.
  func burst(_ changes: ChangeBatch.Change...) async -> [ChangeBatch.Change] {
    await withCheckedContinuation { continuation in
      comparison.filterUnchanged(changes) { continuation.resume(returning: $0) }
    }
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
    #expect(await compared.burst(.created("/f")) == [.created("/f")])
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
    #expect(await compared.burst(.created("/f")) == [.created("/f")])
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
    #expect(await compared.burst(.created("/f")) == [.created("/f")])
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
    await withCheckedContinuation { continuation in
      compared.comparison.flush { continuation.resume() }
    }
  }
}
