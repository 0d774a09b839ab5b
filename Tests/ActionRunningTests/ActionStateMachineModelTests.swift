import TestSupport
import Testing

@testable import ActionRunning

/// Random sequences of all that can happen, the same ones each time.
struct ActionStateMachineModelTests {
  private static let policies: [BusyPolicy] = [.queue, .ignore, .restart, .signal(.terminate)]

  /// All that a queue can be made for, one after the other.
  private func rules(_ policy: BusyPolicy, _ seed: UInt64) -> Rules {
    let completions: [CompletionRule] = [.never, .never, .firstFailure, .firstRun]
    return Rules(
      policy, until: completions[Int(seed / 16 % 4)], builds: seed % 2 == 1,
      keepsAlive: seed / 2 % 2 == 1, times: seed / 4 % 2 == 1, hooks: seed / 8 % 2 == 1)
  }

  private static let seeds = 1...UInt64(Effort.count(2_500, quick: 500))

  @Test(arguments: policies)
  func `random sequences keep every promise, with each policy`(policy: BusyPolicy) {
    var complaints: [String: UInt64] = [:]
    for seed in Self.seeds {
      var model = QueueModel(rules(policy, seed), seed: seed)
      for _ in 0..<40 { model.step() }
      model.settle()
      for complaint in model.complaints.prefix(1) where complaints.count < 5 {
        complaints[complaint] = complaints[complaint] ?? seed
      }
    }
    #expect(complaints.isEmpty)
  }

  @Test func `changes during a run lead to exactly one more`() {
    var counts: Set<Int> = []
    for seed in Self.seeds {
      var model = QueueModel(Rules(), seed: seed)
      for _ in 0..<10 { model.step() }
      if let count = model.runsAfterManyChanges() { counts.insert(count) }
    }
    #expect(counts == [1])
  }
}
