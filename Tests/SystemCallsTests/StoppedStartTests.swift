import Dispatch
import SystemCalls
import TestSupport
import Testing

/// What happens to a child before it has executed its program, which takes its time.
@Suite(.serialized)
struct StoppedStartTests {
  /// A child process that opens a pipe without a writer, before it has executed a program of its own.
  private func childAtPipe() throws -> pid_t? {
    var found: pid_t?
    let own = try fileContents(of: "/proc/self/cmdline")
    for name in try directoryNames(of: "/proc") {
      guard found == nil, let pid = pid_t(name.description) else { continue }
      let place = (try? fileContents(of: Path("/proc/\(pid)/wchan"))) ?? []
      let status = (try? fileContents(of: Path("/proc/\(pid)/stat"))) ?? []
      let fields = String(decoding: status, as: UTF8.self).split(separator: " ")
      let isChild = fields.count > 3 && fields[3] == "\(getpid())"
      guard isChild, place.elementsEqual("wait_for_partner".utf8) else { continue }
      if (try? fileContents(of: Path("/proc/\(pid)/cmdline"))) == own { found = pid }
    }
    return found
  }

  /// Starts a child that is kept at the pipe while `body` sees to it; then it goes on, and `afterwards`
  /// sees to its group.
  private func start(
    whileAtPipe body: (pid_t) throws -> Void,
    afterwards: (ProcessGroup) async throws -> Void = { _ in }
  ) async throws {
    let directory = try TemporaryDirectory()
    let pipe = directory["pipe"]
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
    try body(child)
    // Its other end, and the child goes on.
    let writer = try Descriptor.open(pipe, O_WRONLY | O_NONBLOCK)
    #expect(await eventually { started.entries == [child] })
    let group = ProcessGroup(leader: child)
    try await afterwards(group)
    group.send(.kill)
    #expect(try await eventually { try group.leaderStatus() != nil })
    try group.reap()
    _ = consume writer
  }

  @Test(arguments: [SIGTSTP, SIGTTIN, SIGTTOU])
  func `the stop comes when the program has begun`(number: Int32) async throws {
    try await start {
      kill($0, number)
    } afterwards: { group in
      #expect(try await eventually { try group.leaderStop() == Signal(rawValue: number) })
      let name = try fileContents(of: Path("/proc/\(group.leader)/comm"))
      #expect(name?.elementsEqual("sleep\n".utf8) == true)
    }
  }

  @Test func `it holds nothing of ours any more`() async throws {
    try await start { child in
      let held = try directoryNames(of: Path("/proc/\(child)/fd")).map(\.description)
      #expect(Set(held).isSubset(of: ["0", "1", "2"]))
    }
  }
}
