/// A POSIX signal.
public struct Signal: RawRepresentable, Hashable, Sendable {
  /// The system's number of the signal.
  public let rawValue: Int32

  /// Creates a signal from its number, which does not need a name.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The terminal was closed.
  public static let hangup = Signal(rawValue: SIGHUP)
  /// Ctrl-C.
  public static let interrupt = Signal(rawValue: SIGINT)
  /// Ctrl-\.
  public static let quit = Signal(rawValue: SIGQUIT)
  /// Kills a process; it cannot be caught.
  public static let kill = Signal(rawValue: SIGKILL)
  /// Asks a process to end.
  public static let terminate = Signal(rawValue: SIGTERM)
  /// The size of the terminal has changed.
  package static let windowChange = Signal(rawValue: SIGWINCH)
  /// Suspends a process; it cannot be caught.
  public static let stop = Signal(rawValue: SIGSTOP)
  /// Ctrl-Z: asks a process to suspend itself.
  public static let terminalStop = Signal(rawValue: SIGTSTP)
  /// Resumes a suspended process.
  public static let `continue` = Signal(rawValue: SIGCONT)

  /// The names without `SIG`, and their numbers on this system.
  private static let numbers: KeyValuePairs<String, Int32> = [
    "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "ILL": SIGILL, "TRAP": SIGTRAP,
    "ABRT": SIGABRT, "BUS": SIGBUS, "FPE": SIGFPE, "KILL": SIGKILL, "USR1": SIGUSR1,
    "SEGV": SIGSEGV, "USR2": SIGUSR2, "PIPE": SIGPIPE, "ALRM": SIGALRM, "TERM": SIGTERM,
    "CHLD": SIGCHLD, "CONT": SIGCONT, "STOP": SIGSTOP, "TSTP": SIGTSTP, "TTIN": SIGTTIN,
    "TTOU": SIGTTOU, "URG": SIGURG, "XCPU": SIGXCPU, "XFSZ": SIGXFSZ, "VTALRM": SIGVTALRM,
    "PROF": SIGPROF, "WINCH": SIGWINCH, "IO": SIGIO, "SYS": SIGSYS,
  ]

  /// Creates a signal from its name, with or without `SIG` and in either case, or from its number in decimal.
  /// Returns `nil` if there is no such signal.
  public init?(name: String) {
    if let number = Int32(name) {
      guard (1...64).contains(number) else { return nil }
      rawValue = number
      return
    }
    let upper = name.uppercased()
    let short = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
    guard let found = Self.numbers.first(where: { $0.key == short }) else { return nil }
    rawValue = found.value
  }

  /// The names that `init(name:)` accepts, without `SIG`.
  package static var names: [String] { numbers.map(\.key) }
}

extension Signal: CustomStringConvertible {
  /// The name with `SIG`, or the number.
  public var description: String {
    Self.numbers.first { $0.value == rawValue }.map { "SIG" + $0.key } ?? "signal \(rawValue)"
  }
}

extension Signal {
  /// Restores the default action and sends the signal to this process.
  package func raiseWithDefaultAction() {
    signal(rawValue, SIG_DFL)
    block(SIG_UNBLOCK)
    raise(rawValue)
  }

  /// Blocks all signals in this thread but those of a crash. Dispatch sources receive blocked signals as
  /// well.
  package static func blockAll() {
    var all = sigset_t()
    sigfillset(&all)
    for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP] {
      sigdelset(&all, crash)
    }
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  /// Whether the signal was sent to this process and is pending, because it is blocked.
  package var isPending: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return sigismember(&pending, rawValue) == 1
  }

  /// Suspends this process if this signal, one that suspends processes, is pending, and returns after the
  /// process was resumed. The signal must be blocked in all threads.
  ///
  /// The kernel keeps the order: SIGCONT discards a stop signal that is pending, and a process of an
  /// orphaned group, which nothing could resume, is not suspended.
  package func stopIfPending() {
    block(SIG_UNBLOCK)
    block(SIG_BLOCK)
  }

  private func block(_ change: Int32) {
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, rawValue)
    pthread_sigmask(change, &only, nil)
  }

  /// Makes this process ignore the signal.
  package func ignore() {
    signal(rawValue, SIG_IGN)
  }

  /// Restores the default action of the signal.
  package func restoreDefaultAction() {
    signal(rawValue, SIG_DFL)
  }
}

/// Parks this thread for good.
package func sleepForever() -> Never {
  while true { pause() }
}

/// The signals that this process was started to ignore. Call this before any handler is installed.
package func ignoredSignals() -> Set<Signal> {
  var ignored: Set<Signal> = []
  for number in 1..<Int32(NSIG) {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { continue }
    if action.isIgnore { ignored.insert(Signal(rawValue: number)) }
  }
  return ignored
}
