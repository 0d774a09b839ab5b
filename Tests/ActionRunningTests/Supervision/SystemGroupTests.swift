import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Groups of real processes.
struct SystemGroupTests {
  private func start(_ line: String) throws -> ProcessGroup {
    let request = SpawnRequest(
      arguments: ["sh", "-c", line].map { Array($0.utf8) }, environment: processEnvironment(),
      standardInput: .null)
    return ProcessGroup(leader: try request.spawn())
  }

  @Test func `a process that has the ID of a leader which was reaped is sent no signal`() throws {
    let stranger = try start("exec sleep 1000")
    let group = SystemGroup(stranger, RunMark(guardedBy: nil), nil)
    // There is none to reap, so that the stranger has the ID from now on.
    _ = group.leaderEnded()
    #expect(!group.isAlive && group.survivor == nil)
    group.send(.kill)
    _ = group.sendToAll(.kill)
    #expect(try stranger.leaderStatus() == nil)
    stranger.send(.kill)
    while try stranger.leaderStatus() == nil { sched_yield() }
    try stranger.reap()
  }

  @Test func `a group that has just gone does not refuse signals`() throws {
    let leader = try start("exit 0")
    let group = SystemGroup(leader, RunMark(guardedBy: nil), nil)
    while try leader.leaderStatus() == nil { sched_yield() }
    _ = group.leaderEnded()
    #expect(group.sendToAll(.terminate))
  }
}
