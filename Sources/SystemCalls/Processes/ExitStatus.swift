/// The way a process ended.
public enum ExitStatus: Hashable, Sendable {
  /// It exited with this status.
  case exited(Int32)
  /// It was killed by this signal.
  case signaled(Signal)

  /// The status as shells report it: the exit status, or 128 plus the signal's number.
  public var code: Int32 {
    switch self {
    case .exited(let status): status
    case .signaled(let signal): 128 + signal.rawValue
    }
  }

  /// Whether the process exited with status 0.
  public var isSuccess: Bool { self == .exited(0) }
}

extension ExitStatus: CustomStringConvertible {
  /// `exit status 1` or `killed by SIGTERM`, for messages.
  public var description: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signaled(let signal): "killed by \(signal)"
    }
  }
}
