import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

struct ProcessGroupTests {
  private func start(_ line: String) throws -> ProcessGroup {
    let words = ["sh", "-c", line].map { Array($0.utf8) }
    let request = SpawnRequest(
      arguments: words, environment: processEnvironment(), standardInput: .null)
    return ProcessGroup(leader: try request.spawn())
  }

  private func hasEnded(_ group: ProcessGroup) async throws -> Bool {
    try await eventually { try group.leaderStatus() != nil }
  }

  @Test func `a leader that runs has no status`() throws {
    let group = try start("sleep 1000")
    #expect(try group.leaderStatus() == nil)
    #expect(group.hasLivingMember)
    group.send(.kill)
    while try group.leaderStatus() == nil { sched_yield() }
    try group.reap()
  }

  @Test(arguments: [
    ("exit 0", ExitStatus.exited(0)), ("exit 7", .exited(7)), ("exit 255", .exited(255)),
    ("kill -TERM $$", .signaled(.terminate)), ("kill -KILL $$", .signaled(.kill)),
  ])
  func `the leader's status says how it ended`(line: String, status: ExitStatus) async throws {
    let group = try start(line)
    #expect(try await hasEnded(group))
    #expect(try group.leaderStatus() == status)
    #expect(try group.leaderStatus() == status, "asking does not take it")
    try group.reap()
    #expect(throws: SystemError(call: "waitid", code: ECHILD)) { try group.leaderStatus() }
  }

  @Test func `a dead leader that nobody has waited for is not living`() async throws {
    let group = try start("exit 0")
    #expect(try await hasEnded(group))
    #expect(!group.isEmpty)
    #expect(!group.hasLivingMember)
    try group.reap()
    #expect(group.isEmpty)
    #expect(!group.send(.terminate))
  }

  @Test func `leftover processes are living until they have ended`() async throws {
    let group = try start("sleep 1000 & exit 0")
    #expect(try await hasEnded(group))
    try group.reap()
    #expect(group.hasLivingMember)
    #expect(group.send(.kill))
    #expect(await eventually { !group.hasLivingMember })
  }

  /// GNU make looks once at what its children have written, as soon as it has sent them the signal.
  /// And it says so, also where its reader is sent the signal as well.
  @Test(arguments: ["exec ./make", "./make 2>&1 | cat"])
  func `a program is held until its children have ended`(line: String) async throws {
    let directory = try TemporaryDirectory()
    try File.write(
      """
      #!/bin/sh
      trap 'echo over >&2; for p in $children; do
        read -r id name state rest < /proc/$p/stat && [ $state != Z ] && echo $p $state
      done > seen; echo end >> seen; exit' TERM
      for n in 1 2 3 4 5 6 7 8 9 10; do
        sh -c 'echo up >> ready; exec sleep 1000' & children="$children $!"
      done
      wait
      """, to: directory.path.appending("make"))
    try File.setMode(0o755, of: directory.path.appending("make"))
    for _ in 0..<10 {
      let group = try start("cd '\(directory.path)' && \(line)")
      #expect(await eventually { directory.lines(of: "ready").count == 10 })
      #expect(ProcessGroup.send(.terminate, to: [group], holding: "\nmake\n"))
      #expect(await eventually { directory.lines(of: "seen").last == "end" })
      #expect(directory.lines(of: "seen") == ["end"])
      #expect(try await hasEnded(group))
      try group.reap()
      for name in ["ready", "seen"] { try File.remove(directory.path.appending(name)) }
    }
  }

  @Test func `a process is living as long as one of its threads is`() async throws {
    let program = """
      import ctypes, threading, time
      threading.Thread(target=time.sleep, args=(1000,)).start()
      ctypes.CDLL(None).pthread_exit(None)
      """
    let group = try start("exec python3 -c \"\(program)\"")
    let stat = "/proc/\(group.leader)/stat"
    #expect(
      await eventually(within: .seconds(20)) {
        (try? File.read(Path(stat)))?.contains(" Z ") ?? false
      })
    #expect(group.hasLivingMember)
    group.send(.kill)
    #expect(await eventually { !group.hasLivingMember })
    #expect(try await hasEnded(group))
    try group.reap()
  }

  /// A session made outside the PID namespace is 0 to the processes in it.
  @Test(arguments: [getsid(0), 0])
  func `a descendant with a session of its own is in none of the groups`(
    session: Int32
  ) async throws {
    let directory = try TemporaryDirectory()
    let group = try start("setsid sh -c 'echo $$ >> \(directory["up"]); exec sleep 1000' & wait")
    #expect(await eventually { !directory.lines(of: "up").isEmpty })
    #expect(ProcessGroup.withDescendants([group], session: session) == [group])
    let daemon = try #require(directory.lines(of: "up").first.flatMap { pid_t($0) })
    kill(daemon, SIGKILL)
    #expect(try await hasEnded(group))
    try group.reap()
  }

  /// While a program is being loaded, its process has no environment that could be read.
  @Test func `an orphan that executes programs all the time has its mark all the time`() throws {
    let mark = RunMark(guardedBy: nil)
    var environment = processEnvironment() + [Array(#"SELF=exec sh -c "$SELF""#.utf8)]
    mark.mark(&environment)
    let request = SpawnRequest(
      arguments: ["sh", "-c", #"exec sh -c "$SELF""#].map { Array($0.utf8) },
      environment: environment, standardInput: .null)
    let group = ProcessGroup(leader: try request.spawn())
    let orphans = ProcessGroup.Orphans(of: mark, except: [], countingUnmarked: false)
    let count = Effort.count(2000, quick: 400)
    // Beside those of runs that other tests have forgotten.
    let found = (0..<count).count { _ in
      ProcessGroup.withDescendants([], orphans).contains(group)
    }
    #expect(found == count)
    group.send(.kill)
    while try group.leaderStatus() == nil { sched_yield() }
    try group.reap()
  }

  /// One that a search has missed would otherwise stay until the end of the session.
  @Test func `an orphan of a run that has been forgotten is found by the next search`() throws {
    var mark: RunMark? = RunMark(guardedBy: nil)
    var environment = processEnvironment()
    mark?.mark(&environment)
    let request = SpawnRequest(
      arguments: ["sleep", "1000"].map { Array($0.utf8) }, environment: environment,
      standardInput: .null)
    let group = ProcessGroup(leader: try request.spawn())
    let earlier = ProcessGroup.Orphans(
      of: RunMark(guardedBy: nil), except: [], countingUnmarked: false)
    #expect(!ProcessGroup.withDescendants([], earlier).contains(group))
    mark = nil
    #expect(!ProcessGroup.withDescendants([], earlier).contains(group))
    let later = ProcessGroup.Orphans(
      of: RunMark(guardedBy: nil), except: [], countingUnmarked: false)
    #expect(ProcessGroup.withDescendants([], later).contains(group))
    group.send(.kill)
    while try group.leaderStatus() == nil { sched_yield() }
    try group.reap()
  }

  @Test func `a signal reaches every member`() async throws {
    let directory = try TemporaryDirectory()
    let (up, got) = (directory["up"], directory["got"])
    let member =
      "trap 'echo x >> \(got); exit' USR1; echo x >> \(up); while :; do sleep 0.1; done"
    let group = try start("(\(member)) & \(member)")
    #expect(await eventually { directory.lines(of: "up").count == 2 })
    group.send(Signal(rawValue: SIGUSR1))
    #expect(await eventually { directory.lines(of: "got").count == 2 })
    #expect(try await hasEnded(group))
    try group.reap()
  }
}
