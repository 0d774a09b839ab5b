import SystemCalls

extension PathFilter {
  /// Whether a path passes the patterns of the filter itself: `ignore`, `filter` and `extensions`.
  ///
  /// Ignore files and the built-in list are not applied, and no file is read. Use it to select from
  /// the changes of an observer that has applied them.
  ///
  /// - Parameters:
  ///   - path: An absolute path. One that is not below `root` passes.
  ///   - isDirectory: Whether the path is a directory, or was one before it was removed.
  ///   - root: The watched directory that contains the path.
  ///   - coversDescendants: Whether the path is a directory whose descendants are not reported,
  ///     such as a renamed one. `filter` and `extensions` are not applied to it, as descendants may
  ///     pass them.
  public func passesPatterns(
    _ path: Path, isDirectory: Bool, below root: Path, coversDescendants: Bool = false
  ) -> Bool {
    guard path != root, path.isWithin(root) else { return true }
    let rootOffset = root.offsetBelow
    return path.bytes.withUnsafeBufferPointer { bytes in
      var begin = rootOffset
      while let end = bytes[begin...].firstIndex(of: UInt8(ascii: "/")) {
        let directory = UnsafeBufferPointer(rebasing: bytes[..<end])
        if isIgnored(directory, nameAt: begin, isDirectory: true) { return false }
        begin = end + 1
      }
      if isIgnored(bytes, nameAt: begin, isDirectory: isDirectory) { return false }
      return coversDescendants
        || passesSelections(bytes, nameAt: begin, isDirectory: isDirectory, rootOffset: rootOffset)
    }
  }

  private func isIgnored(
    _ path: UnsafeBufferPointer<UInt8>, nameAt name: Int, isDirectory: Bool
  ) -> Bool {
    ignoreIndex(path, nameAt: name, isDirectory: isDirectory).map {
      !ignoreList.patterns[$0].isNegated
    }
      ?? false
  }
}
