import Dispatch
import SystemCalls
import TestSupport
import Testing

/// A child is asked to stop before it has executed its program.
struct StoppedStartTests {
  /// A child of ours that opens a pipe into which nobody writes.
  private func childAtPipe() throws -> pid_t? {
    var found: pid_t?
    let processes = try Descriptor.openDirectory("/proc")
    try DirectoryReader().forEachEntry(of: processes) { (name, _) throws(SystemError) in
      guard found == nil, let pid = pid_t(String(decoding: name, as: UTF8.self)) else { return }
      let place = (try? fileContents(of: Path("/proc/\(pid)/wchan"))) ?? []
      let status = (try? fileContents(of: Path("/proc/\(pid)/stat"))) ?? []
      let fields = String(decoding: status, as: UTF8.self).split(separator: " ")
      let isOurs = fields.count > 3 && fields[3] == "\(getpid())"
      if isOurs && place.elementsEqual("wait_for_partner".utf8) { found = pid }
    }
    return found
  }

  @Test(.serialized, arguments: [SIGTSTP, SIGTTIN, SIGTTOU])
  func `the stop comes when the program has begun`(number: Int32) async throws {
    let folder = try TemporaryFolder()
    let pipe = folder["pipe"]
    _ = try checked("mkfifo") { mkfifo(pipe.description, 0o600) }
    let request = SpawnRequest(
      arguments: ["sleep", "1000"].map { Array($0.utf8) }, environment: processEnvironment(),
      standardInput: .file(pipe))
    let started = Log<pid_t>()
    DispatchQueue(label: "start").async {
      if let pid = try? request.spawn() { started.note(pid) }
    }
    #expect(try await eventually { try childAtPipe() != nil })
    let child = try #require(try childAtPipe())
    defer { kill(child, SIGKILL) }
    kill(child, number)
    // Its other end, and the child goes on.
    let writer = try Descriptor.open(pipe, O_WRONLY | O_NONBLOCK)
    #expect(await eventually { started.entries == [child] })
    let group = ProcessGroup(leader: child)
    #expect(try await eventually { try group.leaderStop() == Signal(rawValue: number) })
    let name = try fileContents(of: Path("/proc/\(child)/comm"))
    #expect(name?.elementsEqual("sleep\n".utf8) == true)
    group.send(.kill)
    #expect(try await eventually { try group.leaderStatus() != nil })
    try group.reap()
    _ = consume writer
  }
}
