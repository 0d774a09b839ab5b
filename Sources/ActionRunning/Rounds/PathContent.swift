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
  case stamp(FileStamp)
}

/// Reads contents of paths, within limits: of many paths or large files, only inodes, sizes and
/// timestamps are compared.
struct ContentReader: Sendable {
  static let mostFiles = 256
  static let largestFile = 1 << 20

  private let disk = DiskContents(largestFile: ContentReader.largestFile)

  /// The present contents of these paths, in their order.
  /// - Parameter paths: With `isMovedAsWhole` for directories whose entries were not reported.
  func contents(of paths: [(path: Path, isMovedAsWhole: Bool)]) -> [PathContent] {
    paths.enumerated().map { index, entry in
      content(
        of: entry.path, isRead: index < Self.mostFiles, isMovedAsWhole: entry.isMovedAsWhole)
    }
  }

  /// How many of the first bytes of a file are not zero. A process that wrote the file wrote at least
  /// these: linkers skip the gaps between sections. `nil` if the file is too large or cannot be read.
  func countOfNonzero(_ path: Path, size: UInt64) -> UInt64? {
    guard size <= UInt64(Self.largestFile) else { return nil }
    var (rest, count) = (Int(size), 0)
    do throws(SystemError) {
      try readFile(path) { part in
        let bytes = part.prefix(rest)
        count += bytes.count { $0 != 0 }
        rest -= bytes.count
        return rest > 0
      }
    } catch {
      return nil
    }
    return UInt64(count)
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
