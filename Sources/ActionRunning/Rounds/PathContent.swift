import FileObservation
import Support
import SystemCalls

/// What a path holds at one moment, as far as two moments can be compared.
enum PathContent: Hashable, Sendable {
  /// Nothing is there.
  case absent
  /// A directory. Its entries are reported by themselves.
  case directory
  /// A file with these bytes and this mode.
  case file(ContentDigest, attributes: UInt64)
  /// A symbolic link to this target.
  case link(Path)
  /// A socket, a pipe or a device.
  case special
  /// A file that is too large to be read, or a directory that was moved as a whole.
  case stamp(FileStamp)
}

/// Reads what paths hold, within limits: where many paths or large files changed, their inodes, sizes
/// and times stand for their contents.
struct ContentReader: Sendable {
  static let mostFiles = 256
  static let largestFile = 1 << 20

  private let disk = DiskContents(largestFile: ContentReader.largestFile)

  /// What each of these paths holds now, in their order.
  ///
  /// - Parameter paths: Those moved as a whole are directories whose entries were not reported.
  func contents(of paths: [(path: Path, isMovedAsWhole: Bool)]) -> [PathContent] {
    paths.enumerated().map { index, entry in
      content(
        of: entry.path, isRead: index < Self.mostFiles, isMovedAsWhole: entry.isMovedAsWhole)
    }
  }

  private func content(of path: Path, isRead: Bool, isMovedAsWhole: Bool) -> PathContent {
    guard let status = try? FileStatus(of: path) else { return .absent }
    switch status.type {
    case .directory where !isMovedAsWhole: return .directory
    case .symlink: return (try? linkTarget(of: path)).map { .link($0) } ?? .absent
    case .other: return .special
    case .file where isRead:
      if let sample = disk.sample(of: path) {
        return .file(sample.digest, attributes: status.attributes)
      }
    case .file, .directory, .unknown: break
    }
    return disk.stamp(of: path).map { .stamp($0) } ?? .absent
  }
}
