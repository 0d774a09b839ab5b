/// A process to start, with everything that it does not inherit.
package struct SpawnRequest: Hashable, Sendable {
  package enum StandardInput: Hashable, Sendable {
    case inherited
    case null
    /// This file, from its start.
    case file(Path)
    /// Nothing, but no end either.
    case silent(SilentPipe)
  }

  /// The program, which is searched for in `PATH` if it contains no slash, and its arguments.
  package var arguments: [[UInt8]]
  /// The complete environment, as `NAME=value`.
  package var environment: [[UInt8]]
  package var directory: Path?
  package var standardInput: StandardInput
  /// The destinations of its standard output and its standard error; `nil` to inherit one. They may be the
  /// same.
  package var (output, errors): (PipeInput?, PipeInput?)
  /// The socket that it receives as ``PassedSocket/descriptor``.
  package var socket: PassedSocket?
  /// Whether another process uses the socket, which stays as that has made it.
  package var sharesSocket = false
  /// Whether its group becomes the foreground group of the terminal, if there is one to lend.
  package var takesTerminal: Bool

  package init(
    arguments: [[UInt8]], environment: [[UInt8]], directory: Path? = nil,
    standardInput: StandardInput = .inherited, takesTerminal: Bool = false
  ) {
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.standardInput = standardInput
    self.takesTerminal = takesTerminal
  }

  /// The part of a process's start that depends on the caller's state.
  package struct LaunchContext: Sendable {
    /// The signals that the process ignores; all others have their default action.
    package var ignored: Set<Signal> = []
    /// The descriptors that the process inherits besides the standard ones, in ascending order.
    package var descriptors: [Int32] = []
    /// The guardian with which its group is registered.
    package var guardian: GuardianProcess?
    /// The terminal that is lent to its group.
    package var terminal: Terminal?

    package init(
      ignored: Set<Signal> = [], descriptors: [Int32] = [], guardian: GuardianProcess? = nil,
      terminal: Terminal? = nil
    ) {
      self.ignored = ignored
      self.descriptors = descriptors
      self.guardian = guardian
      self.terminal = terminal
    }
  }

  /// Starts the process in a process group of its own, with an empty signal mask, default actions for all
  /// signals but the ignored ones, and the standard descriptors only.
  ///
  /// A script without a `#!` line is run by `sh`, as shells do.
  package func spawn(ignoring ignored: Set<Signal> = []) throws(SystemError) -> pid_t {
    try spawn(in: LaunchContext(ignored: ignored))
  }
}

extension SpawnRequest {
  /// The reason why the start failed. The kernel reports a missing program and a missing directory by the
  /// same code.
  func failure(_ code: Int32, of program: Path) -> SystemError {
    let error = SystemError(call: "posix_spawn", code: code, path: program)
    guard let directory else { return error }
    do throws(SystemError) {
      let status = try FileStatus(of: directory, followsLinks: true)
      if status.type != .directory {
        return SystemError(call: "chdir", code: ENOTDIR, path: directory)
      }
      let isRefused = code == EACCES && directory.withCString { access($0, X_OK) } != 0
      return isRefused ? SystemError(call: "chdir", code: code, path: directory) : error
    } catch {
      return SystemError(call: "chdir", code: error.code, path: directory)
    }
  }
}

extension SpawnRequest.LaunchContext {
  /// The signals that get their default action.
  var defaults: sigset_t {
    var defaults = sigset_t()
    sigfillset(&defaults)
    for signal in ignored { sigdelset(&defaults, signal.rawValue) }
    for signal in [Signal.kill, .stop] { sigdelset(&defaults, signal.rawValue) }
    return defaults
  }
}

extension SpawnRequest.StandardInput {
  /// The file to open; `nil` for none.
  var file: Path? {
    switch self {
    case .inherited, .silent: nil
    case .null: "/dev/null"
    case .file(let path): path
    }
  }

  /// The descriptor to use; `nil` for none.
  var descriptor: Int32? {
    if case .silent(let pipe) = self { pipe.reader } else { nil }
  }
}

/// Calls `body` with a NULL-terminated array of C strings.
func withCStrings<Result>(
  _ strings: [[UInt8]],
  _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = strings.map { Path(bytes: $0).withCString { strdup($0) } }
  defer { for copy in copies { free(copy) } }
  let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: copies.count + 1)
  defer { list.deallocate() }
  for (index, copy) in (copies + [nil]).enumerated() { (list + index).initialize(to: copy) }
  return body(list)
}
