import Support
import SystemCalls

/// A source of file contents: the disk, or an imitation in tests.
package protocol ContentSource: Sendable {
  /// Reads a file. `nil` if it is not a regular file, is too large, cannot be read, or changes
  /// during the reading.
  func sample(of path: Path) -> ContentSample?
}

/// The content of a file at one moment.
package struct ContentSample: Hashable, Sendable {
  package let digest: ContentDigest
  package let stamp: FileStamp
}

/// The status of a file or directory. Two equal ones of a path mean that the file was neither written to nor replaced
/// in between, as far as the clock's resolution can tell.
package typealias FileStamp = FileStatus

/// The files on disk.
package struct DiskContents: ContentSource {
  private let largestFile: Int

  package init(largestFile: Int) {
    self.largestFile = largestFile
  }

  package func sample(of path: Path) -> ContentSample? {
    guard let status = stamp(of: path), status.type == .file, status.size <= largestFile,
      let content = try? fileContents(
        of: path, followsLinks: false, atMost: Int(status.size) + 1),
      // If the file has changed meanwhile, the bytes may be of two versions.
      content.count == status.size, stamp(of: path) == status
    else { return nil }
    return ContentSample(
      digest: content.withUnsafeBytes { ContentDigest(of: $0) }, stamp: status)
  }

  /// The status at a path; `nil` if it does not exist. Does not follow a link.
  package func stamp(of path: Path) -> FileStamp? { try? FileStatus(of: path) }
}
