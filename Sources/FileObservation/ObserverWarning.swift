import PathFiltering
import Support
import SystemCalls

/// A condition in which an observer goes on, but watches less, or in another way, than asked for.
public struct ObserverWarning: Sendable, Hashable {
  /// The kinds of warning. Later versions may add more.
  public struct Code: Sendable, Hashable {
    private let name: String

    /// A directory cannot be read. Changes in it are not reported.
    public static let unreadableDirectory = Code(name: "unreadableDirectory")
    /// The user's limit of inotify watches, or the process's limit of open files, is reached.
    /// Directories without a watch are polled.
    public static let watchLimitReached = Code(name: "watchLimitReached")
    /// The user's limit of inotify instances, or the process's limit of open files, is reached.
    /// Everything is polled.
    public static let instanceLimitReached = Code(name: "instanceLimitReached")
    /// The kernel's queue overflowed. The tree has been scanned again, so no change is lost.
    public static let queueOverflowed = Code(name: "queueOverflowed")
    /// The kernel reports no events for a file system, or not those of other machines. It is
    /// polled.
    public static let eventsUnavailable = Code(name: "eventsUnavailable")
    /// An ignore file cannot be read. Its rules are not applied.
    public static let unreadableIgnoreFile = Code(name: "unreadableIgnoreFile")
    /// Ignore rules exclude every entry of a watched directory.
    public static let everythingIgnored = Code(name: "everythingIgnored")
  }

  /// The kind of warning.
  public let code: Code
  /// The path that the warning is about, if any.
  public let path: Path?
  /// The system call that failed, if any.
  public let cause: SystemError?
  /// The ignore rule that the warning is about, if any.
  public let rule: FilterDecision.Rule?
  /// What happened, and why, for people.
  public let message: String
  /// What to do about it, for people, if there is anything to do outside of the program.
  public let advice: String?

  /// Creates a warning, for tests of code that receives one.
  public init(
    code: Code, path: Path? = nil, cause: SystemError? = nil, rule: FilterDecision.Rule? = nil,
    message: String, advice: String? = nil
  ) {
    self.code = code
    self.path = path
    self.cause = cause
    self.rule = rule
    self.message = message
    self.advice = advice
  }
}

extension ObserverWarning: CustomStringConvertible {
  /// The message and the advice, in one line.
  public var description: String { advice.map { "\(message); \($0)" } ?? message }
}

extension ObserverWarning {
  package static let raiseInstanceLimits =
    "raise the limits: sudo sysctl fs.inotify.max_user_instances=1024, ulimit -n 4096"

  static func unreadableDirectory(_ path: Path, _ cause: SystemError) -> ObserverWarning {
    ObserverWarning(
      code: .unreadableDirectory, path: path, cause: cause,
      message: "cannot read \(path): \(cause.reason); changes in it are not reported")
  }

  static func watchLimitReached(watched: Int, unwatched: Int) -> ObserverWarning {
    ObserverWarning(
      code: .watchLimitReached,
      message: "inotify watch limit reached: of \(watched + unwatched) directories, "
        + "\(watched) are watched and \(unwatched) are polled",
      advice: raiseWatchLimit(for: watched + unwatched))
  }

  /// Advice to allow twice as many watches as are needed, in a round number.
  package static func raiseWatchLimit(for count: Int) -> String {
    var limit = 65536
    while limit < 2 * count { limit *= 2 }
    return "raise the limit: sudo sysctl fs.inotify.max_user_watches=\(limit)"
  }

  static func descriptorLimitReached(watched: Int, unwatched: Int) -> ObserverWarning {
    ObserverWarning(
      code: .watchLimitReached,
      message: "open file limit reached: \(watched) files and directories are watched and "
        + "\(unwatched) directories are polled",
      advice: "raise the limit: ulimit -n \(max(8192, 2 * watched))")
  }

  /// Everything is polled, because the kernel's events cannot be used.
  static func pollingInstead(for error: ObserverError) -> ObserverWarning {
    ObserverWarning(
      code: error.code == .instanceLimitReached ? .instanceLimitReached : .eventsUnavailable,
      path: error.path, cause: error.cause, message: "\(error.message); polling instead",
      advice: error.advice)
  }

  static func eventsUnavailable(
    at path: Path, on kind: String, interval: ClosedRange<Duration>
  ) -> ObserverWarning {
    let shortest = interval.lowerBound.shortDescription
    let longest = interval.upperBound.shortDescription
    let interval = shortest == longest ? "every \(longest)" : "every \(shortest) to \(longest)"
    return ObserverWarning(
      code: .eventsUnavailable, path: path,
      message: "\(path) is on \(kind), where changes by other machines cause no events: "
        + "polling \(interval) instead")
  }

  static func unreadableIgnoreFile(_ cause: SystemError) -> ObserverWarning {
    ObserverWarning(
      code: .unreadableIgnoreFile, path: cause.path, cause: cause,
      message: "cannot read the ignore file \(cause.path?.description ?? ""): \(cause.reason); "
        + "its rules are not applied")
  }

  static func everythingIgnored(
    in path: Path, by rule: FilterDecision.Rule
  ) -> ObserverWarning {
    ObserverWarning(
      code: .everythingIgnored, path: path,
      rule: rule, message: "everything in \(path) is ignored (for example by \(rule))")
  }

  static func queueOverflowed(limit: Int?) -> ObserverWarning {
    ObserverWarning(
      code: .queueOverflowed,
      message: "inotify queue overflowed"
        + (limit.map { ": more than \($0) events were pending" } ?? "")
        + "; the tree was scanned again, and no change is lost",
      advice: "if this happens often: sudo sysctl fs.inotify.max_queued_events=131072")
  }
}
