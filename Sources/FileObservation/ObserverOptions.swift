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
  /// True if a file that was written or replaced is told of only if its content is another than
  /// before; where `kinds` has `metadata`, it is otherwise told of as that.
  ///
  /// No change is lost for it: what is compared is the content when a burst has ended with that of
  /// which was told last, or that at the start. One may be told of though the content is the same,
  /// once for each file: where it has not been read yet, lies below a link or in a folder that was
  /// renamed, or was being written while it was read. Always told of are what cannot be read or is too
  /// large (see ``contentLimits``), and what is created, removed or renamed. What is not seen is
  /// content that comes and goes within one burst.
  ///
  /// Files are read for it: when they have changed, before the batch is handed over, and bit by bit in
  /// the background once everything is watched.
  public var skipsUnchanged: Bool
  /// How much is done for ``skipsUnchanged``.
  public var contentLimits: ContentLimits

  /// The options as given; by default all kinds but `metadata`, and an adaptive quiet period.
  public init(
    filter: PathFilter = PathFilter(),
    quietPeriod: QuietPeriod = .adaptive,
    maximumWait: Duration = .seconds(1),
    kinds: Set<ChangeBatch.Kind> = Set(ChangeBatch.Kind.allCases).subtracting([.metadata]),
    skipsUnchanged: Bool = false,
    contentLimits: ContentLimits = ContentLimits()
  ) {
    self.filter = filter
    self.quietPeriod = quietPeriod
    self.maximumWait = maximumWait
    self.kinds = kinds
    self.skipsUnchanged = skipsUnchanged
    self.contentLimits = contentLimits
  }
}
