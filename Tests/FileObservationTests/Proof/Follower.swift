import FileObservation
import PathFiltering
import SystemCalls

/// The paths that are included, by the decision of `--explain`.
struct Counting {
  private let filter: PathFilter
  private let roots: [Path]

  init(_ settings: Script.Settings, in directory: Path) {
    filter = settings.options(in: directory).filter
    roots = settings.observedRoots.map { place($0.path, in: directory) }
  }

  func counts(_ path: Path, isDirectory: Bool) -> Bool {
    roots.contains { root in
      path.isWithin(root)
        && filter.decision(for: path, isDirectory: isDirectory, below: root).isIncluded
    }
  }
}

/// A consumer that knew all included paths, and has followed the reports since.
///
/// It reads the reported paths and no others. A renamed directory stands for its unchanged contents
/// that were included before; any other path stands for itself only.
struct Follower {
  private let directory: Path
  private let counting: Counting
  /// All entries at the beginning, and the included ones.
  private var all: TreeMirror
  private(set) var mirror: TreeMirror

  init(of directory: Path, knowing counting: Counting) throws {
    self.directory = directory
    self.counting = counting
    all = try TreeMirror(of: directory)
    mirror = all
    try startAgain()
  }

  /// Lists the tree again.
  mutating func startAgain() throws {
    all = try TreeMirror(of: directory)
    mirror = known(all)
  }

  /// Follows the batches, returns the faults, and lists the tree again.
  ///
  /// - Parameter names: Every path that existed at some time, and whether it was ever included. Without it, the
  ///   paths that existed before or exist now; others are left out of the reports.
  mutating func follow(
    _ batches: [ChangeBatch], names: [Path: Bool]? = nil
  ) throws -> [Fault] {
    let before = mirror
    let allBefore = all
    try mirror.apply(batches, trusting: .onlyWhatIsReported)
    // The consumer knows the filter.
    let followed = known(mirror)
    try startAgain()

    var faults: [Fault] = []
    if batches.isEmpty, let change = before.differences(from: mirror).first {
      faults.append(.lostRun(change))
    }
    faults += followed.differences(from: mirror).map(Fault.unknown)

    let changes =
      names == nil ? ScriptRunner.netChanges(of: batches) : batches.flatMap(\.changes)
    let names = names ?? existing(allBefore, all)
    let paths = Set(changes.flatMap { [$0.path, $0.from ?? $0.path] })
    for path in paths.sorted() where path != directory {
      switch names[path] {
      case true?: break
      case false?: faults.append(.doesNotCount(path))
      case nil: faults.append(.neverWas(path))
      }
    }
    return faults
  }

  private func known(_ mirror: TreeMirror) -> TreeMirror {
    mirror.filtered { counting.counts($0, isDirectory: $1 == .directory) }
  }

  private func existing(_ one: TreeMirror, _ other: TreeMirror) -> [Path: Bool] {
    var names: [Path: Bool] = [:]
    for mirror in [one, other] {
      for (path, node) in mirror.nodes {
        let counts = counting.counts(path, isDirectory: node == .directory)
        names[path] = counts || names[path] == true
      }
    }
    return names
  }

  enum Fault: CustomStringConvertible {
    /// An included entry has changed, and nothing was reported.
    case lostRun(String)
    /// A path about which the consumer is wrong.
    case unknown(String)
    /// An excluded or ignored path was reported.
    case doesNotCount(Path)
    /// A path was reported that never existed.
    case neverWas(Path)

    /// The kind of fault, for counting.
    var kind: String {
      switch self {
      case .lostRun: "lost run"
      case .unknown: "unknown change"
      case .doesNotCount: "ignored path"
      case .neverWas: "invented path"
      }
    }

    var description: String {
      switch self {
      case .lostRun(let change): "\(kind): nothing at all was reported, and \(change)"
      case .unknown(let difference): "\(kind): \(difference)"
      case .doesNotCount(let path): "\(kind): \(path) was reported, but is excluded"
      case .neverWas(let path): "\(kind): \(path) was reported and never existed"
      }
    }
  }
}
