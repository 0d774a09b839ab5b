import Support
import SystemCalls

/// The digest of a file's content; `nil` if it is not a regular file, is larger than so many bytes, cannot be read,
/// or changes during the reading.
package func contentDigest(of path: Path, atMost largest: Int) -> ContentDigest? {
  guard let status = try? FileStatus(of: path), status.type == .file, status.size <= largest,
    let content = try? fileContents(of: path, followsLinks: false, atMost: Int(status.size) + 1),
    // If the file has changed meanwhile, the bytes may be of two versions.
    content.count == status.size, (try? FileStatus(of: path)) == status
  else { return nil }
  return content.withUnsafeBytes { ContentDigest(of: $0) }
}
