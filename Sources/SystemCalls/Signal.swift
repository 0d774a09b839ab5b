/// A signal, by its number.
public struct Signal: RawRepresentable, Hashable, Sendable {
  /// The system's number for it.
  public let rawValue: Int32

  /// The signal of this number, which need not have a name.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The terminal is gone.
  public static let hangup = Signal(rawValue: SIGHUP)
  /// Ctrl-C.
  public static let interrupt = Signal(rawValue: SIGINT)
  /// Ctrl-\.
  public static let quit = Signal(rawValue: SIGQUIT)
  /// Ends a process that does not object.
  public static let kill = Signal(rawValue: SIGKILL)
  /// Asks a process to end.
  public static let terminate = Signal(rawValue: SIGTERM)
  /// Stops a process until it is continued, whatever it thinks of that.
  public static let stop = Signal(rawValue: SIGSTOP)
  /// Ctrl-Z: asks a process to stop.
  public static let terminalStop = Signal(rawValue: SIGTSTP)
  /// Lets a stopped process go on.
  public static let `continue` = Signal(rawValue: SIGCONT)

  /// The names without `SIG`, and the numbers that this system has for them.
  private static let numbers: KeyValuePairs<String, Int32> = [
    "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "ILL": SIGILL, "TRAP": SIGTRAP,
    "ABRT": SIGABRT, "BUS": SIGBUS, "FPE": SIGFPE, "KILL": SIGKILL, "USR1": SIGUSR1,
    "SEGV": SIGSEGV, "USR2": SIGUSR2, "PIPE": SIGPIPE, "ALRM": SIGALRM, "TERM": SIGTERM,
    "CHLD": SIGCHLD, "CONT": SIGCONT, "STOP": SIGSTOP, "TSTP": SIGTSTP, "TTIN": SIGTTIN,
    "TTOU": SIGTTOU, "URG": SIGURG, "XCPU": SIGXCPU, "XFSZ": SIGXFSZ, "VTALRM": SIGVTALRM,
    "PROF": SIGPROF, "WINCH": SIGWINCH, "IO": SIGIO, "SYS": SIGSYS,
  ]

  /// The signal called `name`: with `SIG` or without, in either case, or its number.
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

  /// The names that `init(name:)` knows, without `SIG`.
  package static var names: [String] { numbers.map(\.key) }
}

extension Signal: CustomStringConvertible {
  /// The name with `SIG`, or the number.
  public var description: String {
    Self.numbers.first { $0.value == rawValue }.map { "SIG" + $0.key } ?? "signal \(rawValue)"
  }
}

extension Signal {
  /// Sends it to this process itself, with the default action in force: for the signals that end a
  /// process, the last thing it does.
  package func raiseWithDefaultAction() {
    setSignalAction(rawValue, SIG_DFL)
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, rawValue)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(rawValue)
  }

  /// Blocks all signals in this thread but those that tell of a crash. What Dispatch sources are made for
  /// is told by these all the same; Dispatch blocks it in its own threads.
  package static func blockAll() {
    var all = sigset_t()
    sigfillset(&all)
    for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP] {
      sigdelset(&all, crash)
    }
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  /// True if it was sent to this process and has not been taken, because it is blocked.
  package var isPending: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return sigismember(&pending, rawValue) == 1
  }

  /// If this signal, by which a process stops, is pending: stops this process, and returns when it has been
  /// continued. To be blocked in all threads.
  ///
  /// Until then it is the kernel that keeps the order: what continues a process takes back the stop that
  /// it has not come to yet. So it does, too, if there is nobody who could continue us.
  package func stopIfPending() {
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, rawValue)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    pthread_sigmask(SIG_BLOCK, &only, nil)
  }

  /// Makes this process ignore it.
  package func ignore() {
    setSignalAction(rawValue, SIG_IGN)
  }

  /// Gives it its default action in this process again.
  package func restoreDefaultAction() {
    setSignalAction(rawValue, SIG_DFL)
  }
}

/// Leaves all to the other threads.
package func sleepForever() -> Never {
  while true { pause() }
}

private func setSignalAction(_ number: Int32, _ action: (@convention(c) (Int32) -> Void)?) {
  signal(number, action)
}
