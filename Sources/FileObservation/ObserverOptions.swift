import PathFiltering
import SystemCalls

/// A file or folder to watch.
public struct WatchedPath: Sendable, Hashable {
  /// The path; a relative one starts from the current folder.
  public var path: Path
  /// False for a folder without its subfolders. A file is watched by its name either way.
  public var isRecursive: Bool
  /// True if it need not be there yet: it is waited for then.
  public var mayBeMissing: Bool

  /// A path to watch.
  public init(_ path: Path, isRecursive: Bool = true, mayBeMissing: Bool = false) {
    self.path = path
    self.isRecursive = isRecursive
    self.mayBeMissing = mayBeMissing
  }
}

/// Looking for changes from time to time instead of being told of them by the kernel.
public struct Polling: Sendable, Hashable {
  /// When it is done.
  public enum Use: Sendable, Hashable {
    /// Where the kernel tells of nothing, as on network file systems, or has no room.
    case whereNeeded
    /// Everywhere.
    case always
  }

  /// When it is done.
  public var use: Use
  /// How long is waited between two looks: the least soon after something has changed, and growing
  /// to the most while nothing does. For large trees it may take longer: never more than a fifth of
  /// a processor's time is spent on looking.
  public var interval: ClosedRange<Duration>

  /// Polling where it is needed, unless something else is said.
  public init(
    _ use: Use = .whereNeeded,
    interval: ClosedRange<Duration> = .milliseconds(200) ... .seconds(2)
  ) {
    self.use = use
    self.interval = interval
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
  /// True to enter symbolic links to folders, each real folder once, and to tell of what is behind
  /// them under the links' names; of files outside of the tree to which links in it lead as well.
  public var followsLinks: Bool
  /// Where it is looked for changes instead of asking the kernel, and how often.
  public var polling: Polling
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
    followsLinks: Bool = false,
    polling: Polling = Polling(),
    skipsUnchanged: Bool = false,
    contentLimits: ContentLimits = ContentLimits()
  ) {
    self.filter = filter
    self.quietPeriod = quietPeriod
    self.maximumWait = maximumWait
    self.kinds = kinds
    self.followsLinks = followsLinks
    self.polling = polling
    self.skipsUnchanged = skipsUnchanged
    self.contentLimits = contentLimits
  }
}
