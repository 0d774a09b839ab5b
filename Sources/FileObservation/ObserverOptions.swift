import PathFiltering
import SystemCalls

/// A file or folder to watch.
public struct WatchedPath: Sendable, Hashable {
  /// The path; a relative one starts from the current folder.
  public var path: Path
  /// False for a folder without its subfolders. A file is watched by its name either way.
  public var isRecursive: Bool

  /// A path to watch.
  public init(_ path: Path, isRecursive: Bool = true) {
    self.path = path
    self.isRecursive = isRecursive
  }
}

/// How an observer goes about its work.
public struct ObserverOptions: Sendable {
  /// Which paths are watched and told of.
  public var filter: PathFilter
  /// How long nothing must change before a batch is handed over.
  public var quietPeriod: QuietPeriod
  /// The longest that a batch is collected while changes keep coming.
  public var maximumWait: Duration
  /// The kinds of change that are told of.
  public var kinds: Set<ChangeBatch.Kind>

  /// The options as given; by default all kinds but `metadata`, and an adaptive quiet period.
  public init(
    filter: PathFilter = PathFilter(),
    quietPeriod: QuietPeriod = .adaptive,
    maximumWait: Duration = .seconds(1),
    kinds: Set<ChangeBatch.Kind> = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
  ) {
    self.filter = filter
    self.quietPeriod = quietPeriod
    self.maximumWait = maximumWait
    self.kinds = kinds
  }
}
