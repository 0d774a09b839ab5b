import Dispatch
import SystemCalls
import TestSupport
import Testing

import enum SystemCalls.ExitStatus

/// Signals and descriptors belong to the whole process, so one test at a time changes them.
@Suite(.serialized)
struct ProcessSpawnTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func request(_ words: String..., in directory: Path? = nil) -> SpawnRequest {
    SpawnRequest(
      arguments: words.map { Array($0.utf8) }, environment: processEnvironment(),
      directory: directory)
  }

  private func run(
    _ request: SpawnRequest, ignoring ignored: Set<Signal> = []
  ) async throws -> ExitStatus {
    let group = ProcessGroup(leader: try request.spawn(ignoring: ignored))
    #expect(try await eventually { try group.leaderStatus() != nil })
    let status = try #require(try group.leaderStatus())
    try group.reap()
    return status
  }

  /// A signal set of a process, from a copy of its `/proc/…/status`.
  private func signals(_ field: String, in copy: String) throws -> Set<Int32> {
    let line = try #require(directory.lines(of: copy).first { $0.hasPrefix(field + ":") })
    let digits = line.dropFirst(field.count + 1).drop { $0 == "\t" || $0 == " " }
    let bits = try #require(UInt64(digits, radix: 16))
    return Set((1...64).filter { bits >> UInt64($0 - 1) & 1 == 1 })
  }

  /// Not through a shell: dash clears its signal mask when it starts.
  private func copyOfStatus(ignoring ignored: Set<Signal> = []) async throws -> String {
    let copy = request("cp", "/proc/self/status", directory["status"].description)
    #expect(try await run(copy, ignoring: ignored) == .exited(0))
    return "status"
  }

  @Test func `a program is looked up in the PATH of its own environment`() async throws {
    let program = directory["bin/watchrun-test-program"]
    try directory.makeDirectories("bin")
    try directory.write("#!/bin/sh\nexit 7\n", to: "bin/watchrun-test-program")
    try directory.setMode(0o755, of: "bin/watchrun-test-program")
    var request = request(String(decoding: program.lastComponent, as: UTF8.self))
    let paths = request.environment.filter { $0.starts(with: "PATH=".utf8) }
    request.environment.removeAll { $0.starts(with: "PATH=".utf8) }
    for path in ["/none::", "\(directory["bin"]):/none"] {
      request.directory = path == "/none::" ? directory["bin"] : nil
      request.environment.append(Array("PATH=\(path)".utf8))
      try await #expect(run(request) == .exited(7))
      request.environment.removeLast()
    }
    #expect(throws: SystemError.self) {
      var other = request
      other.environment += paths
      _ = try other.spawn()
    }
  }

  @Test func `a file in PATH that is not executable is named so`() throws {
    try directory.makeDirectories("bin")
    try directory.write(to: "bin/watchrun-test-program")
    var request = request("watchrun-test-program")
    request.environment = [Array("PATH=/none:\(directory["bin"])".utf8)]
    let error = #expect(throws: SystemError.self) { try request.spawn() }
    #expect(error?.code == EACCES)
  }

  @Test(arguments: ["none", "file"])
  func `an unusable directory differs from a missing program`(
    name: String
  ) throws {
    try directory.write(to: "file")
    let error = #expect(throws: SystemError.self) {
      try request("true", in: directory[name]).spawn()
    }
    #expect(error?.call == "chdir")
    #expect(error?.path == directory[name])
    #expect(error?.code == (name == "none" ? ENOENT : ENOTDIR))
    let other = #expect(throws: SystemError.self) {
      try request("watchrun-no-such-program", in: directory.path).spawn()
    }
    #expect(other?.path == Path("watchrun-no-such-program"))
  }

  @Test func `a process begins with an empty signal mask`() async throws {
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    let request = request("cp", "/proc/self/status", directory["status"].description)
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    let spawned = Result { () throws(SystemError) in try request.spawn() }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    let group = ProcessGroup(leader: try spawned.get())
    #expect(try await eventually { try group.leaderStatus() != nil })
    try group.reap()
    #expect(try signals("SigBlk", in: "status") == [])
  }

  /// Dispatch gives its threads other nice values than their process has, where it may.
  @Test(.enabled(if: geteuid() == 0, "only root may be less nice again"))
  func `a process is as nice as ours, whichever thread starts it`() async throws {
    let request = request("cp", "/proc/self/stat", directory["stat"].description)
    let spawned = await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .background).async {
        continuation.resume(
          returning: Result { () throws(SystemError) in try request.spawn() })
      }
    }
    let group = ProcessGroup(leader: try spawned.get())
    #expect(try await eventually { try group.leaderStatus() != nil })
    try group.reap()
    // proc(5): the field after the sixteen that follow the name in parentheses.
    let fields = try directory.read("stat").split(separator: ")").last?.split(separator: " ") ?? []
    let process = __priority_which_t(PRIO_PROCESS.rawValue)
    #expect(fields[16] == "\(getpriority(process, id_t(getpid())))")
  }

  @Test func `a process ignores the requested signals and none that only its parent ignores`()
    async throws
  {
    let ours = Signal(rawValue: SIGWINCH)
    let kept = Signal(rawValue: SIGUSR2)
    ours.ignore()
    kept.ignore()
    defer {
      ours.restoreDefaultAction()
      kept.restoreDefaultAction()
    }
    #expect(ignoredSignals().isSuperset(of: [ours, kept]))
    let copy = try await copyOfStatus(ignoring: [kept])
    // The C library keeps two signals for itself, and always has them ignored at the start.
    let ignored = try signals("SigIgn", in: copy).subtracting([32, 33])
    #expect(ignored == [SIGUSR2])
  }

  @Test func `a process inherits no stray descriptor`() async throws {
    let stray = fcntl(STDERR_FILENO, F_DUPFD, 200)
    defer { close(stray) }
    #expect(stray >= 200)
    let test = request("sh", "-c", "test -e /proc/self/fd/2 && test ! -e /proc/self/fd/\(stray)")
    #expect(try await run(test) == .exited(0))
  }

  @Test func `a process inherits the descriptors that it is to inherit, and none between them`()
    async throws
  {
    let numbers = [200, 210, 220].map { fcntl(STDERR_FILENO, F_DUPFD, $0) }
    defer { for number in numbers { close(number) } }
    let line = numbers.enumerated().map { index, number in
      "test \(index == 1 ? "!" : "") -e /proc/self/fd/\(number)"
    }
    let group = ProcessGroup(
      leader: try request("sh", "-c", line.joined(separator: " && ")).spawn(
        in: .init(descriptors: [numbers[0], numbers[2]])))
    #expect(try await eventually { try group.leaderStatus() != nil })
    #expect(try group.leaderStatus() == .exited(0))
    try group.reap()
  }

  @Test func `a process leads a group of its own`() async throws {
    let line = "read pid name state parent group rest < /proc/self/stat; test $group = $$"
    #expect(try await run(request("sh", "-c", line)) == .exited(0))
  }

  @Test func `a process may be given nothing to read`() async throws {
    var cat = request("cat")
    cat.standardInput = .null
    #expect(try await run(cat) == .exited(0))
  }

  @Test func `a process runs in the given directory`() async throws {
    try directory.makeDirectories("here")
    #expect(try await run(request("touch", "made", in: directory["here"])) == .exited(0))
    #expect(directory.exists("here/made"))
  }

  @Test func `a process has the given environment, byte for byte`() async throws {
    var printing = request("sh", "-c", #"printf %s "$NAME" > made"#, in: directory.path)
    printing.environment += [Array("NAME=a".utf8) + [0xFF] + Array("=\n".utf8)]
    #expect(try await run(printing) == .exited(0))
    #expect(try fileContents(of: directory["made"]) == Array("a".utf8) + [0xFF] + Array("=\n".utf8))
  }

  @Test(arguments: [("watchrun-no-such-program", ENOENT), ("/", EACCES), ("", ENOENT)])
  func `a failed start reports the reason`(program: String, code: Int32) {
    #expect(throws: SystemError(call: "posix_spawn", code: code, path: Path(program))) {
      try request(program).spawn()
    }
  }

  @Test func `a file that is not executable is reported`() throws {
    try directory.write("#!/bin/sh\n", to: "script")
    let path = directory["script"]
    #expect(throws: SystemError(call: "posix_spawn", code: EACCES, path: path)) {
      try request(path.description).spawn()
    }
  }

  @Test func `a script without an interpreter line is given to sh`() async throws {
    try directory.write("exit $#\n", to: "script")
    try directory.setMode(0o755, of: "script")
    #expect(try await run(request(directory["script"].description, "a", "b")) == .exited(2))
  }

  @Test(
    arguments: [
      (ExitStatus.exited(0), 0, true, "exit status 0"), (.exited(7), 7, false, "exit status 7"),
      (.signaled(.terminate), 143, false, "killed by SIGTERM"),
    ] as [(ExitStatus, Int32, Bool, String)])
  func `an exit status is one as a shell gives it, and is printed in words`(
    status: ExitStatus, code: Int32, isSuccess: Bool, text: String
  ) {
    #expect(status.code == code)
    #expect(status.isSuccess == isSuccess)
    #expect("\(status)" == text)
  }
}
