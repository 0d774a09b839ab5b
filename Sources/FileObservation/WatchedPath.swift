import SystemCalls

/// A file or directory to watch.
public struct WatchedPath: Sendable, Hashable {
  /// The path. A relative path is resolved against the current directory when it is handed to the
  /// observer.
  public var path: Path
  /// Whether the descendants of a directory are watched too, and not just its entries. It makes no
  /// difference for a file, which is watched by its name; a directory that takes its place later is
  /// watched recursively.
  public var isRecursive: Bool
  /// Whether the path may be missing at first. Its creation is then reported.
  public var mayBeMissing: Bool

  /// Creates a path to watch.
  public init(_ path: Path, isRecursive: Bool = true, mayBeMissing: Bool = false) {
    self.path = path
    self.isRecursive = isRecursive
    self.mayBeMissing = mayBeMissing
  }
}

extension WatchedPath: ExpressibleByStringLiteral {
  /// Creates a path to watch, recursively, which must exist.
  public init(stringLiteral value: String) {
    self.init(Path(value))
  }
}
