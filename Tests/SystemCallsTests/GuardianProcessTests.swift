import SystemCalls
import TestSupport
import Testing

struct GuardianProcessTests {
  private let guardian: GuardianProcess

  init() throws {
    guardian = try .start(signal: .terminate, patience: .milliseconds(100))
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

  @Test func `asks those who were entrusted to it to end`() async throws {
    let groups = try (1...3).map { _ in try start("sleep 100; :") }
    guardian.dismiss()
    for group in groups { #expect(try await end(group) == .signaled(.terminate)) }
  }

  @Test func `kills those who do not do as they are asked`() async throws {
    let folder = try TemporaryDirectory()
    let group = try start("trap '' TERM; echo > \(folder["up"]); while :; do sleep 0.1; done")
    #expect(await eventually { folder.exists("up") })
    guardian.dismiss()
    #expect(try await end(group) == .signaled(.kill))
  }

  @Test func `ends what a leader has left behind`() async throws {
    let group = try start("sleep 100 & exit 0")
    #expect(try await eventually { try group.leaderStatus() != nil })
    guardian.leaderIsReaped(of: group)
    try group.reap()
    #expect(group.hasLivingMember)
    guardian.dismiss()
    #expect(await eventually { !group.hasLivingMember })
  }

  /// A group that is not ours, and one that is, which shows when the guardian has done its work.
  private func isLeftAlone(_ stranger: ProcessGroup) async throws -> Bool {
    let witness = try start("sleep 100; :")
    guardian.dismiss()
    #expect(try await end(witness) == .signaled(.terminate))
    let isAlive = try stranger.leaderStatus() == nil
    stranger.send(.kill)
    _ = try await end(stranger)
    return isAlive
  }

  @Test func `leaves those alone who were not entrusted to it`() async throws {
    #expect(try await isLeftAlone(start("sleep 100; :", entrusted: false)))
  }

  @Test func `leaves those alone whom it was told to forget`() async throws {
    let group = try start("sleep 100; :")
    guardian.forget(group)
    #expect(try await isLeftAlone(group))
  }

  @Test func `leaves a group alone that has got the number of one whose leader is gone`()
    async throws
  {
    let group = try start("sleep 100; :", entrusted: false)
    guardian.add(group)
    guardian.leaderIsReaped(of: group)
    #expect(try await isLeftAlone(group))
  }

  @Test func `a process that cannot be started is not entrusted to it`() async throws {
    let stranger = try start("sleep 100; :", entrusted: false)
    let request = SpawnRequest(arguments: [Array("/no-such-program".utf8)], environment: [])
    for _ in 0..<600 {
      #expect(throws: SystemError.self) { try request.spawn(in: .init(guardian: guardian)) }
    }
    // There is room still.
    #expect(try await isLeftAlone(stranger))
  }
}
