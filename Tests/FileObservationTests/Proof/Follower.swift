import FileObservation
import PathFiltering
import SystemCalls

/// Which paths count: the answer of `--explain`.
struct Counting {
  private let filter: PathFilter
  private let roots: [Path]

  init(_ settings: Script.Settings, in folder: Path) {
    filter = settings.options(in: folder).filter
    roots = settings.observedRoots.map { place($0.path, in: folder) }
  }

  func counts(_ path: Path, isDirectory: Bool) -> Bool {
    roots.contains { root in
      path.isWithin(root)
        && filter.decision(for: path, isDirectory: isDirectory, below: root).isIncluded
    }
  }
}

/// A consumer that knew all paths that count, and since then only what is reported.
///
/// It reads the paths that are reported and no others: a renamed directory stands for its unchanged
/// contents, as far as they counted, and nothing else stands for anything but itself.
struct Follower {
  private let folder: Path
  private let counting: Counting
  /// All that was there at the beginning, and the part of it that counts.
  private var all: TreePicture
  private(set) var picture: TreePicture

  init(of folder: Path, knowing counting: Counting) throws {
    self.folder = folder
    self.counting = counting
    all = try TreePicture(of: folder)
    picture = all
    try startAgain()
  }

  /// Lists the tree anew.
  mutating func startAgain() throws {
    all = try TreePicture(of: folder)
    picture = known(all)
  }

  /// Follows the batches, says what is wrong, and starts again.
  ///
  /// - Parameter names: Every path that existed at some time, and whether it ever counted. Without
  ///   it, what existed before or does now; what came and went is left out of the reports then.
  mutating func follow(
    _ batches: [ChangeBatch], names: [Path: Bool]? = nil
  ) throws -> [Fault] {
    let before = picture
    let allBefore = all
    try picture.apply(batches, trusting: .onlyWhatIsReported)
    // The filter is known to the consumer as well.
    let followed = known(picture)
    try startAgain()

    var faults: [Fault] = []
    if batches.isEmpty, let change = before.differences(from: picture).first {
      faults.append(.lostRun(change))
    }
    faults += followed.differences(from: picture).map(Fault.unknown)

    let changes =
      names == nil ? ScriptRunner.netChanges(of: batches) : batches.flatMap(\.changes)
    let names = names ?? existing(allBefore, all)
    let paths = Set(changes.flatMap { [$0.path, $0.from ?? $0.path] })
    for path in paths.sorted() where path != folder {
      switch names[path] {
      case true?: break
      case false?: faults.append(.doesNotCount(path))
      case nil: faults.append(.neverWas(path))
      }
    }
    return faults
  }

  private func known(_ picture: TreePicture) -> TreePicture {
    picture.filtered { counting.counts($0, isDirectory: $1 == .directory) }
  }

  private func existing(_ one: TreePicture, _ other: TreePicture) -> [Path: Bool] {
    var names: [Path: Bool] = [:]
    for picture in [one, other] {
      for (path, node) in picture.nodes {
        let counts = counting.counts(path, isDirectory: node == .directory)
        names[path] = counts || names[path] == true
      }
    }
    return names
  }

  enum Fault: CustomStringConvertible {
    /// What counts has changed, and nothing was reported.
    case lostRun(String)
    /// A path of which the consumer has a wrong idea.
    case unknown(String)
    /// A path was reported that is filtered out or ignored.
    case doesNotCount(Path)
    /// A path was reported that did not exist at any time.
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
      case .doesNotCount(let path): "\(kind): \(path) was reported and does not count"
      case .neverWas(let path): "\(kind): \(path) was reported and never existed"
      }
    }
  }
}
