import TestSupport
import Testing

@testable import ActionRunning

/// Random graphs, and random sequences of all that can happen to them; the same ones each time.
struct TaskStateMachineModelTests {
  @Test(arguments: 0..<4)
  func `random graphs keep every promise`(part: Int) {
    let count = Effort.count(2_500, quick: 150)
    var complaints: [String: UInt64] = [:]
    var (starts, rounds, judgments) = (0, 0, 0)
    for seed in UInt64(part * count + 1)...UInt64((part + 1) * count) {
      var model = TaskGraphModel(seed: seed)
      model.begin()
      for _ in 0..<40 { model.step() }
      model.settle()
      starts += model.starts
      rounds += model.rounds
      judgments += model.judgments
      for complaint in model.complaints.prefix(1) where complaints.count < 8 {
        complaints[complaint] = complaints[complaint] ?? seed
      }
    }
    #expect(complaints.isEmpty)
    #expect(starts > 4 * count)
    #expect(rounds > count)
    #expect(judgments > 4 * count)
  }
}
