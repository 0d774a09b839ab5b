import Dispatch
import PathFiltering
import Support
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct ReadingAheadTests {
  private let directory: TemporaryDirectory
  private let start: FileTime
  private let disk = DiskContents(largestFile: 1000)

  init() async throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectories("d")
    for number in 0..<200 { try directory.write("\(number)", to: "d/f\(number)") }
    #expect(await clockTicks())
    start = FileTime.now()
  }

  /// The number of remembered files once `isDone` returns true.
  private func known(
    mostFiles: Int = 1000, mostBytes: Int = 1 << 20, until isDone: (Int) -> Bool
  ) async -> Int {
    let comparison = ContentComparison(source: disk, mostFiles: mostFiles, wanted: [.modified])
    let queue = DispatchQueue(label: "test")
    ReadingAhead(
      ReadAheadWalk([.init(path: directory.path, coverage: .recursive)], filter: PathFilter()),
      since: start, atMost: mostBytes, source: disk, for: comparison, queue: queue,
      scheduler: DispatchScheduler(queue: queue)
    ).begin()
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let count = await withCheckedContinuation { continuation in
        comparison.count { continuation.resume(returning: $0) }
      }
      if isDone(count) { return count }
      // Reading ahead has a low priority, so the test must not keep the machine busy.
      try? await Task.sleep(for: .milliseconds(5))
    }
    return -1
  }

  @Test func `every file that has not changed since the start is remembered`() async throws {
    try directory.append("x", to: "d/f7")
    #expect(await known { $0 == 199 } == 199)
  }

  @Test func `reading ahead ends at its limits`() async {
    #expect(await known(mostFiles: 100) { $0 >= 100 } == 100)
    // Two digits each, or three: the first slice is read in part.
    let few = await known(mostBytes: 30) { $0 > 0 }
    #expect((10...16).contains(few))
  }
}
