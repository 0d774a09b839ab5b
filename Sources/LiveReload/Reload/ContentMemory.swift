import SystemCalls

/// What files held when they changed last: a build that writes all files again changes only those that differ.
struct ContentMemory {
  private static let mostFiles = 10_000
  private static let mostAtOnce = 500
  private static let largestFile = 2 * 1024 * 1024

  /// A digest for this process; `nil` for a file that is not there.
  private var digests: [Path: Int?] = [:]

  /// The paths that hold something else than when they changed last, as far as that is known. Files that are very large,
  /// or very many, are not read and count as changed.
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

  /// `nil` where it cannot be known; the value is `nil` where there is no file.
  private static func digest(of path: Path) -> Int?? {
    guard let status = try? FileStatus(of: path, followsLinks: true) else { return .some(nil) }
    guard status.type == .file, status.size <= largestFile,
      let content = try? fileContents(of: path)
    else { return nil }
    var hasher = Hasher()
    content.withUnsafeBytes { hasher.combine(bytes: $0) }
    return .some(hasher.finalize())
  }
}
