import PathFiltering

extension ObservedTree {
  /// The directory of an entry that is reconciled.
  struct Site {
    let directory: Entry
    let stack: IgnoreStack?
    let isRecursive: Bool
    /// The rules that were in force before, if others are applied.
    let former: IgnoreStack?
    /// Whether it was watched before it was scanned.
    let isWatched: Bool
    /// Whether it may have got an entry since the time from which changes are reported.
    var isChanged = false

    init(
      _ directory: Entry, _ details: DirectoryTable.Directory, stack: IgnoreStack?,
      former: IgnoreStack? = nil
    ) {
      self.former = former
      self.directory = directory
      self.stack = stack
      isRecursive = details.coverage == .recursive
      isWatched = details.watch != nil
    }
  }
}
