import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The whole runner with random graphs, faults of the kernel, and all that people do; the same ones each time.
struct RunnerModelTests {
  @Test(arguments: 0..<4)
  func `random graphs and faults keep every promise`(part: Int) throws {
    let directory = try TemporaryDirectory()
    let first = environmentVariable("WATCHRUN_SEED").flatMap { UInt64($0) }
    let count =
      environmentVariable("WATCHRUN_SEEDS").flatMap { Int($0) } ?? Effort.count(500, quick: 50)
    var complaints: [String: UInt64] = [:]
    var starts = 0
    let seeds = first.map { $0...$0 } ?? UInt64(part * count + 1)...UInt64((part + 1) * count)
    for seed in seeds {
      let model = try RunnerModel(seed: seed, in: directory.path)
      model.start()
      for _ in 0..<60 { model.step() }
      model.settle()
      starts += model.reports.withLock(\.started)
      let found = model.world.state.withLock(\.complaints)
      for complaint in found.prefix(1) where complaints.count < 12 {
        complaints[complaint] = complaints[complaint] ?? seed
      }
      if first != nil {
        for line in model.world.state.withLock(\.story) { print(line) }
        print(found)
      }
    }
    #expect(complaints.isEmpty)
    #expect(first != nil || starts > 2 * count)
  }
}
