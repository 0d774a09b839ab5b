/// How a process ended.
public enum ExitStatus: Hashable, Sendable {
  /// By itself, with this status.
  case exited(Int32)
  /// By this signal.
  case signaled(Signal)

  /// As a shell gives it: the status, or 128 and the signal's number.
  public var code: Int32 {
    switch self {
    case .exited(let status): status
    case .signaled(let signal): 128 + signal.rawValue
    }
  }

  /// True for status 0.
  public var isSuccess: Bool { self == .exited(0) }
}

/// A process to be started, in every detail that is not inherited.
package struct SpawnRequest: Hashable, Sendable {
  package enum StandardInput: Hashable, Sendable {
    case inherited
    case null
    /// This file, from its beginning.
    case file(Path)
  }

  /// The program, which is looked for in `PATH` if there is no slash in it, and its arguments.
  package var arguments: [[UInt8]]
  /// `NAME=value`, all there are.
  package var environment: [[UInt8]]
  package var directory: Path?
  package var standardInput: StandardInput

  package init(
    arguments: [[UInt8]], environment: [[UInt8]], directory: Path? = nil,
    standardInput: StandardInput = .inherited
  ) {
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.standardInput = standardInput
  }

  /// Starts it in a process group of its own, with an empty signal mask, default actions for all
  /// signals but those that we were started to ignore, and the three standard descriptors only.
  ///
  /// A script without a `#!` line is given to `sh`, as shells do.
  package func spawn(ignoring ignored: Set<Signal> = []) throws(SystemError) -> pid_t {
    do throws(SystemError) {
      return try spawn(arguments, ignoring: ignored)
    } catch {
      guard error.code == ENOEXEC, let program = arguments.first else { throw error }
      let script = [Array("/bin/sh".utf8), program] + arguments.dropFirst()
      return try spawn(script, ignoring: ignored)
    }
  }

  private func spawn(
    _ arguments: [[UInt8]], ignoring ignored: Set<Signal>
  ) throws(SystemError) -> pid_t {
    let program = Path(bytes: arguments.first ?? [])
    var attributes = posix_spawnattr_t()
    try checkedCode("posix_spawnattr_init") { posix_spawnattr_init(&attributes) }
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    sigemptyset(&mask)
    var defaults = sigset_t()
    sigfillset(&defaults)
    for signal in ignored.union([.kill, Signal(rawValue: SIGSTOP)]) {
      sigdelset(&defaults, signal.rawValue)
    }
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Self.systemFlags)

    var actions = posix_spawn_file_actions_t()
    try checkedCode("posix_spawn_file_actions_init") { posix_spawn_file_actions_init(&actions) }
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let file = standardInput.file {
      _ = file.withCString {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, $0, O_RDONLY, 0)
      }
    }
    csystem_spawn_add_close_from(&actions, STDERR_FILENO + 1)
    _ = directory?.withCString { csystem_spawn_add_change_directory(&actions, $0) }

    var pid: pid_t = 0
    let code = withCStrings(arguments) { argv in
      withCStrings(environment) { envp in
        program.withCString { posix_spawnp(&pid, $0, &actions, &attributes, argv, envp) }
      }
    }
    if code != 0 { throw SystemError(call: "posix_spawn", code: code, path: program) }
    return pid
  }
}

extension SpawnRequest.StandardInput {
  /// What is to be opened; nil if nothing.
  fileprivate var file: Path? {
    switch self {
    case .inherited: nil
    case .null: "/dev/null"
    case .file(let path): path
    }
  }
}

/// Calls `body` with an array of C strings that a NULL ends.
private func withCStrings<Result>(
  _ strings: [[UInt8]],
  _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { Path(bytes: $0).withCString { strdup($0) } }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}

/// The environment of this process, as `NAME=value`.
package func processEnvironment() -> [[UInt8]] {
  var variables: [[UInt8]] = []
  var next = environ
  while let variable = next.pointee {
    variables.append(Path(cString: variable).bytes)
    next = next.advanced(by: 1)
  }
  return variables
}

/// The variables whose names and values are UTF-8.
package func processEnvironmentText() -> [String: String] {
  var texts: [String: String] = [:]
  for variable in processEnvironment() {
    guard let cut = variable.firstIndex(of: UInt8(ascii: "=")),
      let name = String(validating: variable[..<cut], as: UTF8.self),
      let value = String(validating: variable[(cut + 1)...], as: UTF8.self)
    else { continue }
    texts[name] = value
  }
  return texts
}

/// The value of a variable in this process's environment, if its bytes are UTF-8.
package func environmentVariable(_ name: String) -> String? {
  getenv(name).flatMap { String(validatingCString: $0) }
}

/// The signals that this process was started to ignore; asked for before any is handled.
package func ignoredSignals() -> Set<Signal> {
  var ignored: Set<Signal> = []
  for number in 1..<Int32(NSIG) {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { continue }
    if action.isIgnore { ignored.insert(Signal(rawValue: number)) }
  }
  return ignored
}
