import Support
import SystemCalls

/// The state of a set of files: the digest of their paths and fingerprints, in any order. If two are the same, no file
/// was changed, added or removed in between, unless the first is racy.
package struct FileSetState: Sendable {
  /// The number of files and directories.
  package private(set) var count = 0
  /// The latest change of a file.
  package private(set) var newest = FileTime(nanoseconds: .min)
  /// Whether a file has changed so shortly before that another change might leave the same fingerprint.
  package private(set) var isRacy = false
  /// Whether not all could be examined.
  package var isIncomplete = false
  /// The sum of the digests of all files.
  package private(set) var digest = ContentDigest(high: 0, low: 0)

  package init() {}

  /// Whether the files are the same as in the other state.
  package func isSame(as other: FileSetState) -> Bool {
    count == other.count && digest == other.digest
  }

  /// Adds the file or directory at a path, unless it was removed meanwhile.
  ///
  /// - Parameter now: A time before it is examined.
  package mutating func add(_ path: Path, _ now: FileTime) {
    do throws(SystemError) {
      let status = try FileStatus(of: path)
      var state = path.bytes
      add(status, to: &state, now)
      // What a link leads to is read in its place.
      if status.type == .symlink, let target = try? FileStatus(of: path, followsLinks: true) {
        add(target, to: &state, now)
      }
      let own = state.withUnsafeBytes { ContentDigest(of: $0) }
      digest = ContentDigest(high: digest.high &+ own.high, low: digest.low &+ own.low)
      count += 1
    } catch {
      if !error.isNotFound { isIncomplete = true }
    }
  }

  private mutating func add(_ status: FileStatus, to state: inout [UInt8], _ now: FileTime) {
    // The entries of a directory are added one by one.
    let isDirectory = status.type == .directory
    let words = (
      status.device, status.inode, isDirectory ? 0 : status.size,
      isDirectory ? 0 : status.modified.nanoseconds, isDirectory ? 0 : status.changed.nanoseconds,
      status.born?.nanoseconds ?? 0, status.attributes
    )
    withUnsafeBytes(of: words) { state += $0 }
    if isDirectory { return }
    newest = max(newest, status.changed)
    if status.isRacy(now) { isRacy = true }
  }
}

extension FileSetState {
  /// The state of what an observer with these options reports below the paths.
  ///
  /// - Parameter isMeant: Whether a file or directory belongs to the set.
  package init(
    of paths: [WatchedPath], options: ObserverOptions, where isMeant: (Path, FileType) -> Bool
  ) {
    // What links lead to may be anywhere.
    isIncomplete = options.followsLinks
    let now = FileTime.latest()
    var tree = ObservedTree(filter: options.filter, source: nil)
    var pending: [TreeSnapshot.Entry] = []
    for path in paths {
      do throws(ObserverError) {
        tree.add(try WatchedRoot(path).root)
      } catch {
        isIncomplete = true
      }
    }
    tree.scanPending()
    if !tree.takeFindings().warnings.isEmpty { isIncomplete = true }
    for path in paths {
      guard let root = tree.snapshot.entry(at: path.path), !tree.isMissing(root) else { continue }
      let type = tree.snapshot.type(of: root)
      if isMeant(path.path, type) { add(path.path, now) }
      pending.append(root)
    }
    while let directory = pending.popLast() {
      guard tree.isObserved(directory) else { continue }
      let stack = tree.directories[directory]?.stack
      for child in tree.snapshot.children(of: directory)
      where !tree.snapshot.marks(of: child).contains(.absent) {
        let (path, type) = (tree.entryPath(of: child), tree.snapshot.type(of: child))
        if tree.reports(path, isDirectory: type == .directory, stack), isMeant(path.path, type) {
          add(path.path, now)
        }
        if !tree.isRoot(child) { pending.append(child) }
      }
    }
  }
}
