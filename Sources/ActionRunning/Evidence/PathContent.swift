import FileObservation
import Support
import SystemCalls

/// The content of a path at one moment, for comparison with another.
enum PathContent: Hashable, Sendable {
  /// The path does not exist.
  case absent
  /// A directory. Its entries are reported by themselves.
  case directory
  /// A file with these bytes and this mode.
  case file(ContentDigest, attributes: UInt64)
  /// A symbolic link to this target.
  case link(Path)
  /// A socket, a pipe or a device.
  case special
  /// A file that is not read because of its size, or a directory that was moved as a whole.
  case stamp(FileStatus)
}

/// What is known of a path when its change is judged.
struct FileState: Equatable, Sendable {
  var content: PathContent
  /// The creation time; `nil` where the file system does not record it.
  var born: FileTime?
  /// The time of the latest write; `nil` if it is not needed.
  var modified: FileTime?
  /// Whether compilers make such files, and people do not type them.
  var isBuilt = false
}

/// Reads contents of paths, within limits: of many paths or large files, only inodes, sizes and
/// timestamps are compared.
struct ContentReader: Sendable {
  static let mostFiles = 256
  static let largestFile = 1 << 20

  /// The present states of these paths.
  ///
  /// - Parameter paths: With `isMovedAsWhole` for directories whose entries were not reported.
  func states(of paths: [(path: Path, isMovedAsWhole: Bool)]) -> [Path: FileState] {
    var states: [Path: FileState] = [:]
    for (index, entry) in paths.enumerated() {
      let (path, isRead) = (entry.path, index < Self.mostFiles)
      guard let status = try? FileStatus(of: path) else {
        states[path] = FileState(content: .absent)
        continue
      }
      states[path] = FileState(
        content: content(of: path, status, isRead: isRead, isMovedAsWhole: entry.isMovedAsWhole),
        born: status.born, modified: status.modified,
        isBuilt: status.type == .file && FileKind.isBuilt(path, isRead: isRead))
    }
    return states
  }

  private func content(
    of path: Path, _ status: FileStatus, isRead: Bool, isMovedAsWhole: Bool
  ) -> PathContent {
    switch status.type {
    case .directory where !isMovedAsWhole: return .directory
    case .symlink: return (try? linkTarget(of: path)).map { .link($0) } ?? .absent
    case .other: return .special
    case .file where isRead:
      if let digest = contentDigest(of: path, atMost: Self.largestFile) {
        return .file(digest, attributes: status.attributes)
      }
    case .file, .directory, .unknown: break
    }
    return (try? FileStatus(of: path)).map { .stamp($0) } ?? .absent
  }
}
