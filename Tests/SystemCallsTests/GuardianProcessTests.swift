import SystemCalls
import TestSupport
import Testing

struct GuardianProcessTests {
  private let guardian: GuardianProcess

  init() throws {
    guardian = try .start(signal: .terminate, gracePeriod: .milliseconds(100))
  }

  private func start(_ line: String, entrusted: Bool = true) throws -> ProcessGroup {
    let request = SpawnRequest(
      arguments: ["sh", "-c", line].map { Array($0.utf8) }, environment: processEnvironment(),
      standardInput: .null)
    let context = SpawnRequest.LaunchContext(guardian: entrusted ? guardian : nil)
    return ProcessGroup(leader: try request.spawn(in: context))
  }

  private func end(_ group: ProcessGroup) async throws -> SystemCalls.ExitStatus? {
    _ = try await eventually { try group.leaderStatus() != nil }
    defer { try? group.reap() }
    return try group.leaderStatus()
  }

  @Test func `the guardian sends the stop signal to registered groups`() async throws {
    let groups = try (1...3).map { _ in try start("sleep 1000; :") }
    guardian.end()
    for group in groups { #expect(try await end(group) == .signaled(.terminate)) }
  }

  @Test func `the guardian stops any number of groups`() async throws {
    // No process has such an ID.
    for number in 0..<5000 { guardian.add(ProcessGroup(leader: 5_000_000 + pid_t(number))) }
    var request = SpawnRequest(
      arguments: ["sleep", "1000"].map { Array($0.utf8) }, environment: processEnvironment())
    RunMark(guardedBy: guardian).mark(&request.environment)
    let marked = ProcessGroup(leader: try request.spawn())
    let unmarked = try start("sleep 1000; :", entrusted: false)
    guardian.end()
    #expect(try await end(marked) == .signaled(.terminate))
    #expect(try unmarked.leaderStatus() == nil)
    unmarked.send(.kill)
    _ = try await end(unmarked)
  }

  @Test func `the guardian kills groups that ignore the signal`() async throws {
    let directory = try TemporaryDirectory()
    let group = try start("trap '' TERM; echo > \(directory["up"]); while :; do sleep 0.1; done")
    #expect(await eventually { directory.exists("up") })
    guardian.end()
    #expect(try await end(group) == .signaled(.kill))
  }

  @Test func `the guardian stops leftover processes`() async throws {
    let group = try start("sleep 1000 & exit 0")
    #expect(try await eventually { try group.leaderStatus() != nil })
    guardian.leaderIsReaped(of: group)
    try group.reap()
    #expect(group.hasLivingMember)
    guardian.end()
    #expect(await eventually { !group.hasLivingMember })
  }

  /// A group that is not ours, and one that is, which shows when the guardian has done its work.
  private func isLeftAlone(_ stranger: ProcessGroup) async throws -> Bool {
    let witness = try start("sleep 1000; :")
    guardian.end()
    #expect(try await end(witness) == .signaled(.terminate))
    let isAlive = try stranger.leaderStatus() == nil
    stranger.send(.kill)
    _ = try await end(stranger)
    return isAlive
  }

  @Test func `the guardian leaves other groups alone`() async throws {
    #expect(try await isLeftAlone(start("sleep 1000; :", entrusted: false)))
  }

  @Test func `the guardian leaves removed groups alone`() async throws {
    let group = try start("sleep 1000; :")
    guardian.forget(group)
    #expect(try await isLeftAlone(group))
  }

  @Test func `the guardian leaves a group alone that reuses the ID of one whose leader was reaped`()
    async throws
  {
    let group = try start("sleep 1000; :", entrusted: false)
    guardian.add(group)
    guardian.leaderIsReaped(of: group)
    #expect(try await isLeftAlone(group))
  }

  @Test func `a process that cannot be started is not entrusted to it`() async throws {
    let stranger = try start("sleep 1000; :", entrusted: false)
    let request = SpawnRequest(arguments: [Array("/no-such-program".utf8)], environment: [])
    for _ in 0..<600 {
      #expect(throws: SystemError.self) { try request.spawn(in: .init(guardian: guardian)) }
    }
    // There is room still.
    #expect(try await isLeftAlone(stranger))
  }
}
