import Synchronization
import SystemCalls
import TestSupport

/// A process that a test has started, in a group of its own. It inherits no descriptors and no blocked
/// or ignored signals.
final class ChildProcess: Sendable {
  enum Input: String, Sendable, CaseIterable {
    case null
    case closed
    /// A pipe into which nothing is ever written.
    case silentPipe
    /// A pipe that is at its end.
    case endedPipe
  }

  /// The destination of its standard output and standard error.
  enum Output: Sendable {
    case pipes
    /// One terminal, which is its standard input as well.
    case terminal
    /// The terminal of a session that it leads.
    case session(PseudoTerminal)
  }

  let pid: pid_t
  let output: ByteCollector
  /// On a terminal, the same as `output`.
  let errors: ByteCollector
  private let end = Mutex<ExitStatus?>(nil)
  /// The test's end of its standard input.
  private let inputWriter: Int32?
  private let leadsSession: Bool

  init(
    _ arguments: [String], environment: [String: String], directory: String, input: Input = .null,
    output: Output = .pipes
  ) throws {
    var plan = SpawnPlan()
    if case .session = output { leadsSession = true } else { leadsSession = false }
    switch (output, input) {
    case (.session(let terminal), _):
      plan.terminal = terminal.path
      self.output = terminal.output
      errors = terminal.output
      inputWriter = nil
    case (.terminal, _):
      let terminal = try openPseudoTerminal()
      plan.descriptors = [terminal.theirs, terminal.theirs, terminal.theirs]
      self.output = ByteCollector(reading: terminal.ours)
      errors = self.output
      inputWriter = nil
    case (.pipes, let input):
      let out = try Self.openPipe()
      let error = try Self.openPipe()
      plan.descriptors = [nil, out.writer, error.writer]
      self.output = ByteCollector(reading: out.reader)
      errors = ByteCollector(reading: error.reader)
      switch input {
      case .null:
        plan.opensNull = true
        inputWriter = nil
      case .closed:
        inputWriter = nil
      case .silentPipe, .endedPipe:
        let pipe = try Self.openPipe()
        plan.descriptors[0] = pipe.reader
        if input == .endedPipe { close(pipe.writer) }
        inputWriter = input == .endedPipe ? nil : pipe.writer
      }
    }
    defer { for number in Set(plan.descriptors.compactMap { $0 }) { close(number) } }
    pid = try plan.spawn(
      arguments, environment: environment.map { "\($0.key)=\($0.value)" }, directory: directory)
  }

  deinit {
    if let inputWriter { close(inputWriter) }
  }

  /// Its exit status, or `nil` while it runs.
  var exitStatus: ExitStatus? {
    end.withLock { end in
      if end == nil { end = Self.wait(for: pid, WNOHANG) }
      return end
    }
  }

  /// Sends it a signal, if it has not ended.
  func send(_ signal: Int32) {
    end.withLock { end in
      if end == nil { kill(pid, signal) }
    }
  }

  /// Stops it with SIGSTOP, and waits until all of its threads have stopped.
  func suspend() async throws {
    send(SIGSTOP)
    try await eventually("process \(pid) stops") {
      var status = siginfo_t()
      let result = waitid(P_PID, id_t(pid), &status, WSTOPPED | WNOHANG)
      return result == 0 && status.si_signo == SIGCHLD
    }
  }

  /// Sends SIGTERM, waits, then kills its group. The leader of a session, which may ignore SIGTERM, is
  /// killed at once.
  func stop() async {
    send(SIGCONT)
    send(leadsSession ? SIGKILL : SIGTERM)
    try? await eventually("process \(pid) ends", within: .seconds(5)) { exitStatus != nil }
    end.withLock { end in
      guard end == nil else { return }
      kill(-pid, SIGKILL)
      end = Self.wait(for: pid, 0)
    }
  }

  private static func wait(for pid: pid_t, _ options: Int32) -> ExitStatus? {
    var status: Int32 = 0
    guard retryingOnInterrupt({ waitpid(pid, &status, options) }) == pid else { return nil }
    let signal = status & 0x7F
    return signal == 0
      ? .exited((status >> 8) & 0xFF) : .signaled(SystemCalls.Signal(rawValue: signal))
  }

  static func openPipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [0, 0]
    _ = try checked("pipe") { pipe(&ends) }
    for number in ends { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}

/// The arguments of `posix_spawn`.
private struct SpawnPlan {
  /// Standard input, output and error; `nil` for none.
  var descriptors: [Int32?] = []
  /// Standard input is `/dev/null`.
  var opensNull = false
  /// All three are this terminal, in a session of its own.
  var terminal: String?

  /// `POSIX_SPAWN_SETSID`, which is declared only with GNU extensions.
  private static let setsid: Int32 = 0x80

  func spawn(
    _ arguments: [String], environment: [String], directory: String
  ) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    try checkedCode("posix_spawnattr_init") { posix_spawnattr_init(&attributes) }
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let place = terminal == nil ? POSIX_SPAWN_SETPGROUP : Self.setsid
    posix_spawnattr_setflags(
      &attributes, Int16(place | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var actions = posix_spawn_file_actions_t()
    try checkedCode("posix_spawn_file_actions_init") { posix_spawn_file_actions_init(&actions) }
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let terminal {
      // The first terminal that the leader of a session opens becomes that of the session.
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
      for number in [STDOUT_FILENO, STDERR_FILENO] {
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, number)
      }
    }
    for (number, descriptor) in descriptors.enumerated() {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      } else if opensNull {
        posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDONLY, 0)
      } else {
        posix_spawn_file_actions_addclose(&actions, Int32(number))
      }
    }
    csystem_spawn_add_close_from(&actions, STDERR_FILENO + 1)
    csystem_spawn_add_change_directory(&actions, directory)

    let program = arguments.first ?? ""
    var pid: pid_t = 0
    try checkedCode("posix_spawn", path: Path(program)) {
      withCStrings(arguments) { argv in
        withCStrings(environment) { envp in
          posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
        }
      }
    }
    return pid
  }

  private func withCStrings(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
  ) -> Int32 {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
