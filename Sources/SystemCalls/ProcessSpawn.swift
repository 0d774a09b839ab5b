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
  /// Into which its standard output and error go; nil for our own.
  package var output: PipeInput?
  /// True if the terminal is to be given to its group, if there is one to give.
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

  /// What a process finds when it begins, besides what is asked for it.
  package struct LaunchContext: Sendable {
    /// The signals that it ignores; all others have their default action.
    package var ignored: Set<Signal> = []
    /// To whom its group is entrusted.
    package var guardian: GuardianProcess?
    /// The terminal that is given to its group.
    package var terminal: Terminal?

    package init(
      ignored: Set<Signal> = [], guardian: GuardianProcess? = nil, terminal: Terminal? = nil
    ) {
      self.ignored = ignored
      self.guardian = guardian
      self.terminal = terminal
    }
  }

  /// Starts it in a process group of its own, with an empty signal mask, default actions for all
  /// signals but those that are to be ignored, and the three standard descriptors only.
  ///
  /// A script without a `#!` line is given to `sh`, as shells do.
  package func spawn(ignoring ignored: Set<Signal> = []) throws(SystemError) -> pid_t {
    try spawn(in: LaunchContext(ignored: ignored))
  }
}

extension SpawnRequest {
  /// Why it was not started. The kernel gives one code for a program and for a folder that is not there.
  func failure(_ code: Int32, of program: Path) -> SystemError {
    let error = SystemError(call: "posix_spawn", code: code, path: program)
    guard let directory else { return error }
    do throws(SystemError) {
      let status = try FileStatus(of: directory, followsLinks: true)
      return status.type == .directory
        ? error : SystemError(call: "chdir", code: ENOTDIR, path: directory)
    } catch {
      return SystemError(call: "chdir", code: error.code, path: directory)
    }
  }
}

extension SpawnRequest.LaunchContext {
  /// The signals that are given their default action.
  var defaults: sigset_t {
    var defaults = sigset_t()
    sigfillset(&defaults)
    for signal in ignored { sigdelset(&defaults, signal.rawValue) }
    for signal in [Signal.kill, .stop] { sigdelset(&defaults, signal.rawValue) }
    return defaults
  }
}

extension SpawnRequest.StandardInput {
  /// What is to be opened; nil if nothing.
  var file: Path? {
    switch self {
    case .inherited: nil
    case .null: "/dev/null"
    case .file(let path): path
    }
  }
}

/// Calls `body` with an array of C strings that a NULL ends.
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
