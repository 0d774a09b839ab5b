import TestSupport
import Testing

@testable import ActionRunning

/// Random graphs, and random sequences of all that can happen to them; the same ones each time.
struct TaskStateMachineModelTests {
  @Test(arguments: [1...2500, 2501...5000, 5001...7500, 7501...10_000] as [ClosedRange<UInt64>])
  func `10,000 random graphs keep every promise`(seeds: ClosedRange<UInt64>) {
    var complaints: [String: UInt64] = [:]
    var (starts, waves) = (0, 0)
    for seed in seeds {
      var model = TaskGraphModel(seed: seed)
      model.begin()
      for _ in 0..<40 { model.step() }
      model.settle()
      starts += model.starts
      waves += model.waves
      for complaint in model.complaints.prefix(1) where complaints.count < 8 {
        complaints[complaint] = complaints[complaint] ?? seed
      }
    }
    #expect(complaints.isEmpty)
    #expect(starts > 10_000)
    #expect(waves > 2_500)
  }
}
