import Support
import SystemCalls

/// The files on disk.
package struct DiskContents: ContentSource {
  private let largestFile: Int

  package init(largestFile: Int) {
    self.largestFile = largestFile
  }

  package func sample(of path: Path) -> ContentSample? {
    guard let status = try? FileStatus(of: path), status.type == .file,
      status.size <= UInt64(clamping: largestFile)
    else { return nil }
    var hasher = ContentHasher()
    var count: UInt64 = 0
    do throws(SystemError) {
      try readFile(path) { part in
        hasher.update(part)
        count += UInt64(part.count)
        return count <= status.size
      }
    } catch {
      return nil
    }
    let stamp = FileStamp(status)
    // If the file has changed meanwhile, the bytes may be of two versions.
    guard count == status.size, self.stamp(of: path) == stamp else { return nil }
    return ContentSample(digest: hasher.finish(), stamp: stamp)
  }

  package func stamp(of path: Path) -> FileStamp? {
    (try? FileStatus(of: path)).map { FileStamp($0) }
  }
}
