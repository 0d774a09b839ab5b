import SystemCalls

/// The reason why an observer cannot start, or has stopped observing.
///
/// What the observer survives is an ``ObserverWarning``.
public struct ObserverError: Error, Sendable, Hashable {
  /// The kinds of failure. Later versions may add more.
  public struct Code: Sendable, Hashable {
    private let name: String

    /// A path to watch does not exist, or cannot be accessed.
    public static let pathUnavailable = Code(name: "pathUnavailable")
    /// The user's limit of inotify instances, or the process's limit of open files, is reached.
    public static let instanceLimitReached = Code(name: "instanceLimitReached")
    /// The system refuses the calls by which the kernel reports changes.
    public static let eventsUnavailable = Code(name: "eventsUnavailable")
    /// The kernel failed in a way from which the observer cannot recover.
    public static let observationFailed = Code(name: "observationFailed")
    /// The observer has been started before, or has failed. An observer is started once.
    public static let alreadyStarted = Code(name: "alreadyStarted")
    /// The observer has been stopped. A stopped observer stays stopped.
    public static let alreadyStopped = Code(name: "alreadyStopped")
  }

  /// The kind of failure.
  public let code: Code
  /// The path that the failure is about, if any.
  public let path: Path?
  /// The system call that failed, if any.
  public let cause: SystemError?
  /// What happened, and why, for people.
  public let message: String
  /// What to do about it, for people, if there is anything to do.
  public let advice: String?

  /// Creates an error, for tests of code that receives one.
  public init(
    code: Code, path: Path? = nil, cause: SystemError? = nil, message: String, advice: String? = nil
  ) {
    self.code = code
    self.path = path
    self.cause = cause
    self.message = message
    self.advice = advice
  }
}

extension ObserverError: CustomStringConvertible {
  /// The message and the advice, in one line.
  public var description: String { advice.map { "\(message); \($0)" } ?? message }
}

extension ObserverError {
  static func pathUnavailable(_ path: Path, _ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .pathUnavailable, path: path, cause: cause,
      message: "cannot watch \(path): \(cause.reason)",
      advice: cause.isNotFound
        ? "check the path, or watch the directory in which it will be created"
        : "check the permissions")
  }

  static func instanceLimitReached(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .instanceLimitReached, cause: cause,
      message: "cannot create an inotify instance: \(cause.reason)",
      advice: ObserverWarning.raiseInstanceLimits)
  }

  static func eventsUnavailable(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .eventsUnavailable, cause: cause,
      message: "inotify is not available: \(cause)",
      advice: "allow \(cause.call) in the profile of the container or sandbox")
  }

  static func observationFailed(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .observationFailed, path: cause.path, cause: cause,
      message: "watching failed: \(cause)")
  }

  static let alreadyStarted = ObserverError(
    code: .alreadyStarted,
    message: "cannot start the observer: it has been started before",
    advice: "create another observer")

  static let alreadyStopped = ObserverError(
    code: .alreadyStopped,
    message: "cannot start the observer: it has been stopped", advice: "create another observer")
}
