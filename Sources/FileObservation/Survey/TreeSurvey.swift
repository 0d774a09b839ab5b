import Dispatch
import PathFiltering
import SystemCalls

/// The directories and files that an observer would watch, found by its own scan, without watching
/// anything.
package struct TreeSurvey: Sendable {
  /// The number of entries below a directory.
  package struct Size: Hashable, Sendable {
    /// The directories that are entered.
    package var directories = 0
    package var files = 0
    /// The files among them whose changes the filter does not report.
    package var ignoredFiles = 0

    /// Each directory takes a watch, and each file takes memory.
    package var entries: Int { directories + files }

    static func += (left: inout Size, right: Size) {
      left.directories += right.directories
      left.files += right.files
      left.ignoredFiles += right.ignoredFiles
    }
  }

  /// A watched path, or a mount point in one that is polled.
  package struct Root: Sendable {
    package let path: Path
    package let isPolled: Bool
    /// Whether it does not exist. It is watched as soon as it does.
    package let isMissing: Bool
    /// The path itself included.
    package let size: Size
  }

  /// A directory in a watched path.
  package struct Subtree: Sendable {
    package let path: Path
    /// The directory itself included.
    package let size: Size
    /// A pattern by which the directory is not entered; `nil` if its path contains a line break.
    package let pattern: [UInt8]?
    /// The directory to which the pattern is relative: it is for `.watchrunignore` there. If it is the
    /// base of the filter, the pattern is also one for the filter.
    package let patternBase: Path
  }

  package private(set) var roots: [Root] = []
  /// The largest subtrees that do not contain each other, the largest first.
  package private(set) var largest: [Subtree] = []
  /// The number of kernel watches that an observer needs.
  package private(set) var watches = 0
  /// The number of ignored directories, not counting those below them.
  package private(set) var pruned = 0
  package private(set) var ignoreFiles: [IgnoreFile] = []
  /// The warnings that an observer would report.
  package private(set) var warnings: [ObserverWarning] = []
  /// The paths that cannot be watched.
  package private(set) var failures: [ObserverError] = []

  /// Scans the paths with the options of an observer. Paths that cannot be watched are left out.
  package init(of paths: [WatchedPath], options: ObserverOptions, largest limit: Int = 10) {
    var found: [BackendConfiguration.Root] = []
    for path in paths {
      do throws(ObserverError) {
        let root = try WatchedRoot(path).root
        if !found.contains(root) { found.append(root) }
      } catch {
        failures.append(error)
      }
    }
    let configuration = BackendConfiguration(
      roots: found, filter: options.filter, followsLinks: options.followsLinks, start: .now(),
      queue: DispatchQueue(label: "watchrun.survey")
    ) { _ in }
    let division = CombinedBackend(configuration, polling: options.polling).division(of: found)
    warnings = division.warnings
    let mounts = Set(division.mounts.map(\.path))
    scan(division.watched, excluding: mounts, arePolled: false, configuration, limit)
    scan(division.polled + division.mounts, excluding: [], arePolled: true, configuration, limit)
    largest = Array(largest.sorted { $0.size.entries > $1.size.entries }.prefix(limit))
    let order = found.map(\.path)
    let places = Dictionary(zip(order, order.indices)) { first, _ in first }
    roots.sort { (places[$0.path] ?? .max, $0.path) < (places[$1.path] ?? .max, $1.path) }
  }

  private mutating func scan(
    _ roots: [BackendConfiguration.Root], excluding excluded: Set<Path>, arePolled: Bool,
    _ configuration: BackendConfiguration, _ limit: Int
  ) {
    if roots.isEmpty { return }
    var tree = ObservedTree(
      filter: configuration.filter, source: nil, followsLinks: configuration.followsLinks,
      excluded: excluded)
    for root in roots { tree.add(root) }
    tree.scanPending()
    let readiness = tree.takeReadiness(backend: "")
    if !arePolled { watches += Self.watchCount(of: tree) }
    pruned += readiness.pruned
    ignoreFiles += readiness.ignoreFiles.filter { file in
      !ignoreFiles.contains { $0.path == file.path }
    }
    warnings += tree.takeFindings().warnings
    let measure = TreeMeasure(tree)
    for root in roots {
      guard let entry = tree.snapshot.entry(at: root.path) else { continue }
      let isMissing = tree.isMissing(entry)
      self.roots.append(
        Root(
          path: root.path, isPolled: arePolled, isMissing: isMissing,
          size: isMissing ? Size() : measure.size(of: entry)))
      if isMissing { continue }
      let base = Self.patternBase(
        for: root.path, tree.directories[entry]?.stack, configuration.filter)
      largest += measure.largest(limit, in: entry).map { subtree in
        let path = tree.snapshot.path(of: subtree)
        return Subtree(
          path: path, size: measure.size(of: subtree),
          pattern: path.relative(to: base).flatMap(Self.pattern), patternBase: base)
      }
    }
  }

  /// The number of directories, and of files that are roots, by whatever paths they are reached.
  private static func watchCount(of tree: ObservedTree) -> Int {
    let files = tree.roots.filter { tree.directories[$0] == nil && !tree.isMissing($0) }
    let watched = tree.directories.entries + files
    let identities = watched.compactMap { entry in
      let followsLinks = tree.directories[entry] != nil
      return try? tree.disk.status(of: tree.snapshot.path(of: entry), followsLinks: followsLinks)
    }.map { FileIdentity($0) }
    return Set(identities).count
  }

  /// The base of the filter, if ignore files there apply to the root, and otherwise the root.
  private static func patternBase(
    for root: Path, _ stack: IgnoreStack?, _ filter: PathFilter
  ) -> Path {
    guard root.isWithin(filter.base), let top = stack?.top else { return root }
    return filter.base.isWithin(top) ? filter.base : root
  }

  private static func pattern(for directory: Path) -> [UInt8]? {
    if directory.bytes.contains(where: { [0x0A, 0x0D].contains($0) }) { return nil }
    return GlobPattern(only: directory.appending("")).map(\.text)
  }
}
