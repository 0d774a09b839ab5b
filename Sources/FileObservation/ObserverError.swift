import PathFiltering
import SystemCalls

/// What keeps an observer from watching something: what it is, why, and what can be done.
public struct ObserverError: Error, Sendable, Hashable {
  /// The kinds of failure. There may be more in later versions.
  public struct Code: Sendable, Hashable {
    private let name: StaticName

    private enum StaticName: Sendable {
      case pathUnavailable
      case unreadableDirectory
      case watchLimitReached
      case instanceLimitReached
      case queueOverflowed
      case eventsUnavailable
      case unreadableIgnoreFile
      case everythingIgnored
      case unsupportedPlatform
      case observationFailed
      case alreadyStarted
      case alreadyStopped
    }

    private init(_ name: StaticName) {
      self.name = name
    }

    /// A path to watch does not exist.
    public static let pathUnavailable = Code(.pathUnavailable)
    /// A folder may not be read, so changes in it are not seen.
    public static let unreadableDirectory = Code(.unreadableDirectory)
    /// The kernel gives this user no more inotify watches.
    public static let watchLimitReached = Code(.watchLimitReached)
    /// The kernel gives this user no more inotify instances, or this process no more descriptors.
    public static let instanceLimitReached = Code(.instanceLimitReached)
    /// The kernel dropped events because they were not read fast enough; the tree was read again.
    public static let queueOverflowed = Code(.queueOverflowed)
    /// The file system tells of no changes that other machines make; it is looked at instead.
    public static let eventsUnavailable = Code(.eventsUnavailable)
    /// An ignore file is there and cannot be read; it is done without.
    public static let unreadableIgnoreFile = Code(.unreadableIgnoreFile)
    /// Ignore rules leave out all that is in a watched folder.
    public static let everythingIgnored = Code(.everythingIgnored)
    /// There is no backend for this system.
    public static let unsupportedPlatform = Code(.unsupportedPlatform)
    /// The kernel failed in a way that observing cannot survive.
    public static let observationFailed = Code(.observationFailed)
    /// The observer was started before, or has failed. An observer is started once.
    public static let alreadyStarted = Code(.alreadyStarted)
    /// The observer was stopped, which is for good.
    public static let alreadyStopped = Code(.alreadyStopped)
  }

  /// What kind of failure it is.
  public let code: Code
  /// The path it is about, if it is about one.
  public let path: Path?
  /// The system call behind it, if there was one.
  public let cause: SystemError?
  private let message: String
  /// What can be done about it; empty if nothing can.
  public let advice: String
}

extension ObserverError: CustomStringConvertible {
  /// The thing, the cause and the remedy, in one line.
  public var description: String {
    advice.isEmpty ? message : "\(message); \(advice)"
  }
}

extension ObserverError {
  static func pathUnavailable(_ path: Path, _ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .pathUnavailable, path: path, cause: cause,
      message: "cannot watch \(path): \(cause.reason)",
      advice: cause.isNotFound
        ? "check the name, or watch the folder in which it is to appear" : "check who may read it")
  }

  static func unreadableDirectory(_ path: Path, _ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .unreadableDirectory, path: path, cause: cause,
      message: "cannot read \(path): \(cause.reason)",
      advice: "changes in it are not seen")
  }

  static func watchLimitReached(watched: Int, unwatched: Int) -> ObserverError {
    // Room for twice as many, in a round number.
    var wanted = 65536
    while wanted < 2 * (watched + unwatched) { wanted *= 2 }
    return ObserverError(
      code: .watchLimitReached, path: nil, cause: nil,
      message: "the limit of inotify watches is reached: of \(watched + unwatched) folders, "
        + "\(watched) are watched and \(unwatched) are looked at from time to time",
      advice: "raise it: sudo sysctl fs.inotify.max_user_watches=\(wanted)")
  }

  static func descriptorLimitReached(watched: Int, unwatched: Int) -> ObserverError {
    ObserverError(
      code: .watchLimitReached, path: nil, cause: nil,
      message: "the limit of open files is reached: \(watched) files and folders are watched, and "
        + "\(unwatched) folders are looked at from time to time",
      advice: "raise it: ulimit -n \(max(8192, 2 * watched))")
  }

  static func instanceLimitReached(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .instanceLimitReached, path: nil, cause: cause,
      message: "no inotify instance is to be had (\(cause.reason)): it is looked for changes from "
        + "time to time instead",
      advice: "raise the limits: sudo sysctl fs.inotify.max_user_instances=1024, ulimit -n 4096")
  }

  static func eventsUnavailable(
    at path: Path, on kind: FileSystemKind, interval: ClosedRange<Duration>
  ) -> ObserverError {
    let least = interval.lowerBound.formattedSeconds
    let most = interval.upperBound.formattedSeconds
    let often = least == most ? "every \(most) s" : "every \(least) to \(most) s"
    return ObserverError(
      code: .eventsUnavailable, path: path, cause: nil,
      message:
        "\(path) is on \(kind.name), which does not tell of what others change: it is looked "
        + "at \(often) instead",
      advice: "set how often with --poll=INTERVAL")
  }

  static func unreadableIgnoreFile(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .unreadableIgnoreFile, path: cause.path, cause: cause,
      message: "cannot read the ignore file \(cause.path?.description ?? ""): \(cause.reason)",
      advice: "its rules are not in force")
  }

  static func everythingIgnored(in path: Path, by rule: FilterDecision.Rule) -> ObserverError {
    ObserverError(
      code: .everythingIgnored, path: path, cause: nil,
      message: "all that is in \(path) is ignored, by \(rule) for one",
      advice: "name with -w what is to be watched all the same")
  }

  static func queueOverflowed(limit: Int?) -> ObserverError {
    ObserverError(
      code: .queueOverflowed, path: nil, cause: nil,
      message: "more changed at once than the kernel's queue holds"
        + (limit.map { " (\($0) events)" } ?? "") + "; the tree was read again to find what",
      advice: "if this is often so: sudo sysctl fs.inotify.max_queued_events=131072")
  }

  static func observationFailed(_ cause: SystemError) -> ObserverError {
    ObserverError(
      code: .observationFailed, path: cause.path, cause: cause,
      message: "watching has failed: \(cause)", advice: "")
  }

  static let alreadyStarted = ObserverError(
    code: .alreadyStarted, path: nil, cause: nil,
    message: "cannot start the observer: it was started before", advice: "make another one")

  static let alreadyStopped = ObserverError(
    code: .alreadyStopped, path: nil, cause: nil,
    message: "cannot start the observer: it was stopped", advice: "make another one")

  static let unsupportedPlatform = ObserverError(
    code: .unsupportedPlatform, path: nil, cause: nil,
    message: "there is no backend for this system yet", advice: "")
}

extension Duration {
  /// In seconds, with as many decimals as it has, but three at most.
  fileprivate var formattedSeconds: String {
    let milliseconds = nanoseconds / 1_000_000
    let (whole, part) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    if part == 0 { return "\(whole)" }
    var digits = String(part + 1000).dropFirst()
    while digits.last == "0" { digits = digits.dropLast() }
    return "\(whole).\(digits)"
  }
}
