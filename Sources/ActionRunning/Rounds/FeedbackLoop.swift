import Support
import SystemCalls

/// A path that every run changes, so that every run leads to the next.
public struct FeedbackLoop: Sendable, Hashable {
  /// The file that is changed, or the directory in which files are created or removed.
  public var path: Path
  /// Some of the entries that are created or removed in `path`; empty if `path` is a file.
  public var entries: [Path]
  /// How long the next run waits.
  public var delay: Duration
  /// Whether others than the runs change `path` as well, so that it cannot be ignored.
  public var isEdited = false
  /// Whether the runs in a row have all changed `path`. Otherwise each has changed another one.
  public var isProved = true
  /// Whether `path` has led to many runs, whenever after the start it has changed, as a log does at each request to a
  /// server.
  public var isFrequent = false
}
