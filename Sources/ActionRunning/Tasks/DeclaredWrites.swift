import FileObservation
import PathFiltering
import SystemCalls

/// The paths that a task declares to write: patterns in gitignore syntax, relative to a directory. Unlike a pattern
/// of an ignore rule, one also matches a path that is watched by its name.
public struct DeclaredWrites: Sendable, Hashable {
  /// Ignores what the task writes.
  private let filter: PathFilter
  /// Whether no path outside of the base is declared.
  let isConfined: Bool

  /// Creates declarations; by default of nothing.
  public init(_ patterns: [GlobPattern] = [], base: Path = "/", isConfined: Bool = false) {
    self.isConfined = isConfined
    filter = PathFilter(base: base, ignore: patterns, sources: [])
  }

  /// The patterns.
  public var patterns: [GlobPattern] { filter.ignore }

  /// The directory to which they are relative.
  var base: Path { filter.base }

  /// Whether the task declares to write a path.
  ///
  /// - Parameters:
  ///   - path: An absolute path.
  ///   - isDirectory: Whether it is a directory, or was one before it was removed.
  ///   - watched: The paths that the task watches.
  public func contains(_ path: Path, isDirectory: Bool, watched: [WatchedPath] = []) -> Bool {
    subject(path, isDirectory: isDirectory, watched: watched) != nil
  }

  /// The rule that declares a path; `nil` if none does. The parameters are those of `contains`.
  package func rule(
    for path: Path, isDirectory: Bool, watched: [WatchedPath] = []
  ) -> FilterDecision.Rule? {
    subject(path, isDirectory: isDirectory, watched: watched).flatMap { subject in
      filter.decision(
        for: subject.path, isDirectory: subject.isDirectory, below: root(of: path, watched)
      ).rule
    }
  }

  /// A name that only a pattern for all entries of a directory matches.
  private static let anyName: [UInt8] = [1, 1, 1]

  /// What the filter ignores, if the path is declared: the path, or any entry of it, as for `log` and `log/**`.
  private func subject(
    _ path: Path, isDirectory: Bool, watched: [WatchedPath]
  ) -> (path: Path, isDirectory: Bool)? {
    if patterns.isEmpty || isConfined && !path.isWithin(base) { return nil }
    let root = root(of: path, watched)
    let own = (path: path, isDirectory: isDirectory)
    let entry = (path: path.appending(Self.anyName[...]), isDirectory: false)
    return (isDirectory ? [own, entry] : [own]).first { subject in
      !filter.passesPatterns(subject.path, isDirectory: subject.isDirectory, below: root)
    }
  }

  /// The directory below which names are compared: the base, or outside of it the parent of the watched path.
  private func root(of path: Path, _ watched: [WatchedPath]) -> Path {
    if path.isWithin(filter.base) { return filter.base }
    let root = watched.first { path.isWithin($0.path) }?.path ?? path
    return root.parent ?? "/"
  }
}
