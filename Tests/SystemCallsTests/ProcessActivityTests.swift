import TestSupport
import Testing

@testable import SystemCalls

#if os(Linux)
struct ProcessActivityTests {
  /// Runs a shell line, and kills its process after `body`.
  private func withProcess<Result>(
    _ line: String, _ body: (_ leader: pid_t) async throws -> Result
  ) async throws -> Result {
    let leader = try SpawnRequest(
      arguments: ["/bin/sh", "-c", line].map { Array($0.utf8) }, environment: environment,
      standardInput: .null
    ).spawn()
    defer {
      kill(-leader, SIGKILL)
      waitpid(leader, nil, 0)
    }
    return try await body(leader)
  }

  private let environment = ["PATH=/usr/bin:/bin"].map { Array($0.utf8) }

  @Test func `what a process writes is counted`() async throws {
    let directory = try TemporaryDirectory()
    try await withProcess("cd '\(directory.path)'; echo a line > file; exec sleep 1000") { leader in
      #expect(await eventually { ProcessActivity(of: [leader])?.writes.bytes ?? 0 >= 7 })
    }
  }

  @Test func `a child is found, and what it does counts`() async throws {
    let directory = try TemporaryDirectory()
    let line = "mkfifo begin; read x < begin; sleep 1000 & wait"
    try await withProcess("cd '\(directory.path)'; \(line)") { leader in
      #expect(await eventually { directory.exists("begin") })
      let before = try #require(ProcessActivity(of: [leader]))
      try directory.write("\n", to: "begin")
      #expect(
        await eventually {
          ProcessActivity(of: [leader]).map { $0.writes.processes != before.writes.processes }
            ?? false
        })
    }
  }

  /// Otherwise a thread of a request that has ended could be made up for by another one that has run as often.
  @Test func `threads that have run as often have different numbers`() async throws {
    let line = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & echo $!; done > pids; wait"
    let directory = try TemporaryDirectory()
    try await withProcess("cd '\(directory.path)'; \(line)") { _ in
      #expect(await eventually { directory.lines(of: "pids").count == 12 })
      let processes = directory.lines(of: "pids").compactMap { pid_t($0) }
      #expect(
        await eventually { processes.allSatisfy { ProcessActivity(of: [$0])?.isRunning == false } })
      let numbers = processes.compactMap { ProcessActivity(of: [$0])?.switches }
      #expect(Set(numbers).count == 12)
    }
  }

  @Test func `the numbers of a process that sleeps do not move`() async throws {
    try await withProcess("exec sleep 1000") { leader in
      // It is loaded, and then sleeps.
      #expect(
        await eventually {
          let first = ProcessActivity(of: [leader])
          return first?.isRunning == false && ProcessActivity(of: [leader]) == first
        })
    }
  }

  @Test func `a child that runs moves the number of switches`() async throws {
    // A look fails if a child ends meanwhile, so most of them live longer than a look.
    try await withProcess("while :; do sleep 0.5; done") { leader in
      var before = try #require(ProcessActivity(of: [leader])).switches
      // Those of a child that has ended are not counted any more.
      #expect(
        await eventually {
          guard let now = ProcessActivity(of: [leader])?.switches else { return false }
          defer { before = now }
          return now > before
        })
    }
  }

  @Test func `a process that calculates is running`() async throws {
    try await withProcess("while :; do :; done") { leader in
      #expect(await eventually { ProcessActivity(of: [leader])?.isRunning == true })
    }
  }

  @Test func `several groups are counted together`() async throws {
    try await withProcess("exec sleep 1000") { first in
      try await withProcess("exec sleep 1000") { second in
        let both = try #require(ProcessActivity(of: [first, second])).writes.processes
        for leader in [first, second] {
          #expect(try #require(ProcessActivity(of: [leader])).writes.processes != both)
        }
      }
    }
  }

  /// The kernel's list of so many children is longer than one read of it.
  @Test func `all of 900 children are found`() async throws {
    // Each child waits for someone to write to the pipe, and executes nothing.
    let line =
      "mkfifo p; i=0; while [ $i -lt 900 ]; do : < p & i=$((i + 1)); done; echo $! > last; wait"
    let directory = try TemporaryDirectory()
    // The thread is kept: others would run beside all these processes until it is the turn of this test again.
    func waits(for condition: () -> Bool) -> Bool {
      let end = ContinuousClock.now.advanced(by: .seconds(60))
      while !condition() {
        if ContinuousClock.now > end { return false }
        usleep(1000)
      }
      return true
    }
    try await withProcess("cd '\(directory.path)'; \(line)") { leader in
      #expect(waits { directory.lines(of: "last").count == 1 })
      let last = try #require(directory.lines(of: "last").first.flatMap { pid_t($0) })
      let before = try #require(ProcessActivity(of: [leader]))
      kill(last, SIGKILL)
      #expect(
        waits {
          ProcessActivity(of: [leader]).map { $0.writes.processes != before.writes.processes }
            ?? false
        })
    }
  }

  @Test func `a process that has ended has done nothing`() {
    #expect(ProcessActivity(of: [0x3fff_ffff])?.writes.bytes ?? 0 == 0)
    #expect(ProcessActivity(of: []) == ProcessActivity())
  }

  @Test func `files that are open for writing are found, and others are not`() throws {
    let directory = try TemporaryDirectory()
    for name in ["written", "appended", "longer", "shorter", "updated", "read", "closed"] {
      try directory.write("x", to: name)
    }
    let written = try Descriptor.open(directory["written"], O_WRONLY)
    let appended = try Descriptor.open(directory["appended"], O_RDWR | O_APPEND)
    let longer = try Descriptor.open(directory["longer"], O_WRONLY | O_APPEND)
    let shorter = try Descriptor.open(directory["shorter"], O_WRONLY | O_APPEND)
    for number in [appended.number, longer.number, shorter.number] {
      #expect(write(number, "y", 1) == 1)
    }
    // Others have written last.
    try directory.write("xyz", to: "longer")
    try directory.write("z", to: "shorter")
    let updated = try Descriptor.open(directory["updated"], O_RDWR)
    let read = try Descriptor.open(directory["read"], O_RDONLY)
    let names = [
      "written", "appended", "longer", "shorter", "updated", "read", "closed", "missing",
    ]
    let group = ProcessGroup(leader: getpid())
    #expect(
      group.filesOpenForWriting(names.map { directory[$0] }) == [
        directory["written"]: .write, directory["appended"]: .write, directory["updated"]: .update,
      ])
    _ = (written.number, updated.number, read.number)
  }
}
#endif
