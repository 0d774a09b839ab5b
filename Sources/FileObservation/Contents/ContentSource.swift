import Support
import SystemCalls

/// A source of file contents: the disk, or an imitation in tests.
package protocol ContentSource: Sendable {
  /// Reads a file. `nil` if it is not a regular file, is too large, cannot be read, or changes
  /// during the reading.
  func sample(of path: Path) -> ContentSample?

  /// Identity and times of a file or directory; `nil` if the path does not exist. Does not follow a
  /// link.
  func stamp(of path: Path) -> FileStamp?
}

/// The content of a file at one moment.
package struct ContentSample: Hashable, Sendable {
  package let digest: ContentDigest
  package let stamp: FileStamp

  package init(digest: ContentDigest, stamp: FileStamp) {
    self.digest = digest
    self.stamp = stamp
  }
}
