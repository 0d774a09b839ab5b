import Dispatch
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

import enum SystemCalls.ExitStatus

struct SystemLauncherTests {
  private let queue = DispatchQueue(label: "test")
  private let ends = Log<ExitStatus>()

  private func launch(_ script: String) throws -> pid_t {
    let request = SpawnRequest(
      arguments: ["sh", "-c", script].map { Array($0.utf8) }, environment: processEnvironment())
    return try SystemLauncher(queue: queue).launch(request) { [ends] in ends.note($0) }.leader
  }

  @Test func `a run whose status other code has taken is not a success`() async throws {
    try queue.sync {
      let process = try launch("exit 0")
      #expect(waitpid(process, nil, 0) == process)
    }
    #expect(await eventually { !ends.entries.isEmpty })
    #expect(ends.entries.map(\.isSuccess) == [false])
  }

  @Test func `a process that is none of a command is forgotten when its ID is free`() {
    // No process has such an ID.
    let free: pid_t = 5_000_000
    SystemLauncher.exclude(free)
    SystemLauncher.exclude(processIDs().own)
    let strangers = adoption.withLock(\.strangers)
    #expect(strangers.contains(processIDs().own) && !strangers.contains(free))
  }

  @Test func `each run has a mark of its own, instead of one that was inherited`() async throws {
    let directory = try TemporaryDirectory()
    for _ in 1...2 {
      _ = try launch("env | grep WATCHRUN_RUN= >> \(directory["marks"])")
    }
    #expect(await eventually { ends.entries.count == 2 })
    let marks = directory.lines(of: "marks")
    #expect(Set(marks).count == 2)
    #expect(marks.allSatisfy { $0.hasPrefix(RunMark.common) })
  }
}
