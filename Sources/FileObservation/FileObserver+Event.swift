import PathFiltering

extension FileObserver {
  /// A report of an observer. A failure is not an event: streams throw it, and a handler has a
  /// second closure for it.
  public enum Event: Sendable {
    /// Everything is watched. Reported once.
    case ready(Readiness)
    /// Something changed.
    case changed(ChangeBatch)
    /// Something is not watched, or is polled. The observer goes on.
    case warning(ObserverWarning)
  }

  /// The state when everything is watched.
  public struct Readiness: Sendable {
    /// The number of kernel watches.
    public let watches: Int
    /// The number of ignored directories, not counting those below them.
    public let pruned: Int
    /// The mechanism, such as `inotify`, `polling` or `inotify+polling`; `none` without paths.
    public let backend: String
    /// The ignore files that are applied.
    public let ignoreFiles: [IgnoreFile]

    /// Creates a state, for tests of code that receives one.
    public init(watches: Int, pruned: Int = 0, backend: String, ignoreFiles: [IgnoreFile] = []) {
      self.watches = watches
      self.pruned = pruned
      self.backend = backend
      self.ignoreFiles = ignoreFiles
    }
  }

  /// Counters of an observer. One that is not running has no watches.
  public struct Statistics: Sendable, Hashable {
    /// The number of kernel watches.
    public internal(set) var watches = 0
    /// The number of directories that are polled because they cannot be watched.
    public internal(set) var polledDirectories = 0
    /// The number of ignored directories that the first scan has found, not counting those below
    /// them.
    public internal(set) var pruned = 0
    /// The number of times that the kernel has dropped events, and the whole tree was scanned after that.
    public internal(set) var overflows = 0
    /// The number of batches that have been reported.
    public internal(set) var batches = 0
  }
}
