import TestSupport
import Testing

@testable import SystemCalls

#if os(Linux)
struct ProcessActivityTests {
  private var activity: ProcessActivity? { ProcessActivity(of: getpid()) }

  @Test func `what a process writes is counted`() throws {
    let directory = try TemporaryDirectory()
    let before = try #require(activity)
    try directory.write("a line", to: "file")
    #expect(try #require(activity).writes.bytes >= before.writes.bytes + 6)
  }

  @Test func `a child is found, with the time of its start`() throws {
    let before = try #require(activity)
    let time = FileTime.now()
    let child = try SpawnRequest(
      arguments: ["/bin/sleep", "60"].map { Array($0.utf8) }, environment: [],
      standardInput: .null
    ).spawn()
    let after = try #require(activity)
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
    #expect(after.writes.processes != before.writes.processes)
    #expect(after.newestStart.advanced(by: .milliseconds(20)) >= time)
    #expect(after.newestStart <= FileTime.latest())
  }

  @Test func `a process that has ended has done nothing`() {
    #expect(ProcessActivity(of: 0x3fff_ffff)?.writes.bytes ?? 0 == 0)
  }

  @Test func `files that are open for writing are found, and others are not`() throws {
    let directory = try TemporaryDirectory()
    for name in ["written", "read", "closed"] { try directory.write("x", to: name) }
    let written = try Descriptor.open(directory["written"], O_WRONLY | O_APPEND)
    let read = try Descriptor.open(directory["read"], O_RDONLY)
    let paths = ["written", "read", "closed", "missing"].map { directory[$0] }
    let group = ProcessGroup(leader: getpid())
    #expect(group.filesOpenForWriting(paths) == [directory["written"]])
    _ = (written.number, read.number)
  }
}
#endif
