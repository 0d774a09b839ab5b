import PathFiltering
import SystemCalls

/// A watched path, made absolute, and the root by which backends watch it.
struct WatchedRoot: Sendable {
  let watched: WatchedPath
  let root: BackendConfiguration.Root
  /// The index lock of the repository that contains it, which exists while git is working.
  private(set) var gitLock: Path?

  var path: Path { root.path }

  /// - Parameter isObserved: Whether it is observed, so that the lock is looked up.
  init(_ watched: WatchedPath, isObserved: Bool = false) throws(ObserverError) {
    do throws(SystemError) {
      let path = watched.path.absolute(from: try currentDirectory())
      self.watched = WatchedPath(
        path, isRecursive: watched.isRecursive, mayBeMissing: watched.mayBeMissing)
      root = .init(path: path, coverage: try Self.coverage(of: self.watched))
      gitLock = isObserved ? gitIndexLock(above: path) : nil
    } catch {
      throw .pathUnavailable(watched.path, error)
    }
  }

  private static func coverage(of watched: WatchedPath) throws(SystemError) -> Coverage {
    let coverage: Coverage = watched.isRecursive ? .recursive : .entries
    let path = watched.path
    // If a missing path becomes a file, its coverage makes no difference.
    if watched.mayBeMissing && (try? FileStatus(of: path)) == nil { return coverage }
    let own = try FileStatus(of: path)
    let target = try? FileStatus(of: path, followsLinks: true)
    return own.type == .directory || target?.type == .directory ? coverage : .named
  }
}
