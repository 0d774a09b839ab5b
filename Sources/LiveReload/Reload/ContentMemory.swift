import Support
import SystemCalls

/// The contents of files after their last changes. With it, a build that rewrites all files changes
/// only those that differ.
struct ContentMemory {
  private static let mostFiles = 10_000
  private static let mostAtOnce = 500
  private static let largestFile = 2 * 1024 * 1024

  /// The digests; `nil` for a missing file.
  private var digests: [Path: ContentDigest?] = [:]

  /// Returns the paths whose content differs from that after their last change. Large files, and
  /// more than some hundred at once, are not read, and count as different.
  mutating func changed(_ paths: [Path]) -> [Path] {
    if paths.count > Self.mostAtOnce || digests.count > Self.mostFiles {
      digests = [:]
      return paths
    }
    return paths.filter { path in
      guard let digest = Self.digest(of: path) else {
        digests[path] = nil
        return true
      }
      return digests.updateValue(digest, forKey: path) != .some(digest)
    }
  }

  /// The digest of a file; `nil` if it is missing, and `nil` as a whole if it cannot be read.
  private static func digest(of path: Path) -> ContentDigest?? {
    guard let status = try? FileStatus(of: path, followsLinks: true) else { return .some(nil) }
    guard status.type == .file, status.size <= largestFile,
      let content = try? fileContents(of: path)
    else { return nil }
    return .some(content.withUnsafeBytes { ContentDigest(of: $0) })
  }
}
