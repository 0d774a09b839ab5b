import SystemCalls

// The filter's own patterns alone.

extension PathFilter {
  /// True if a change of the path passes what was given to the filter itself: `ignore`, `filter` and
  /// `extensions`. Ignore files and the built-in list are not asked, and nothing is read.
  ///
  /// For those who are told of changes that an observer has let pass, and want some of them.
  ///
  /// - Parameters:
  ///   - path: An absolute path. One that is not below `root` passes, as a watched path itself does.
  ///   - isDirectory: True for a folder. Of a path that is gone, what it was.
  ///   - root: The folder by which the path is of interest.
  ///   - standsForContents: True for a folder of whose contents nobody tells, as of one that was
  ///     renamed: `filter` and `extensions`, which files in it may pass, are not asked then.
  public func passesPatterns(
    _ path: Path, isDirectory: Bool, below root: Path, standsForContents: Bool = false
  ) -> Bool {
    guard path != root, path.isWithin(root) else { return true }
    let rootOffset = root.offsetBelow
    return path.bytes.withUnsafeBufferPointer { bytes in
      var begin = rootOffset
      while let end = bytes[begin...].firstIndex(of: Byte.slash) {
        let folder = UnsafeBufferPointer(rebasing: bytes[..<end])
        if isIgnored(folder, nameAt: begin, isDirectory: true) { return false }
        begin = end + 1
      }
      if isIgnored(bytes, nameAt: begin, isDirectory: isDirectory) { return false }
      return standsForContents
        || passesGates(bytes, nameAt: begin, isDirectory: isDirectory, rootOffset: rootOffset)
    }
  }

  private func isIgnored(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Bool {
    ignoreIndex(path, nameAt: name, isDirectory: isDirectory).map { !ignore.patterns[$0].isNegated }
      ?? false
  }
}
