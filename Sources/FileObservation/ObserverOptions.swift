import PathFiltering

/// The options of an observer.
public struct ObserverOptions: Sendable, Hashable {
  /// The paths that are watched and reported.
  ///
  /// The default applies `.gitignore` and similar files, and the built-in list. For everything:
  /// `PathFilter(sources: [])`.
  public var filter: PathFilter
  /// How long nothing must change before a batch is delivered.
  public var quietPeriod: QuietPeriod
  /// The longest time from the first change of a batch to its delivery while changes keep coming.
  public var maximumWait: Duration
  /// The kinds of change that are reported.
  public var kinds: Set<ChangeBatch.Kind>
  /// Whether symbolic links are followed. A directory is entered through one link only, and its
  /// descendants are reported below the link. A change of a file outside of the tree is reported
  /// under the names of the links to it.
  public var followsLinks: Bool
  /// When to poll, and how often.
  public var polling: Polling
  /// Whether a modified file is reported only if its content differs from before. If `kinds`
  /// contains `metadata`, it is otherwise reported as that.
  ///
  /// The content at the end of a burst is compared with the content that was last reported. No
  /// change is lost, but the first change of each file is reported, and possibly one after its
  /// directory was renamed, or after it was written while it was read. Unreadable files, files
  /// beyond the limits (``contentLimits``), and entries that are created, removed or renamed are
  /// always reported. Content that changes and changes back within one burst is not.
  ///
  /// Files are read for this when they change, before the batch is delivered.
  public var skipsUnchanged: Bool
  /// The limits of ``skipsUnchanged``.
  public var contentLimits: ContentLimits

  /// Creates options; by default all kinds but `metadata`, and an adaptive quiet period.
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
