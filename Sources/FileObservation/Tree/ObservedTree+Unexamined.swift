import SystemCalls

// Directories that cannot be examined for a while: without permissions, without a free descriptor, or
// because a file system has a fault. Nothing is concluded from that. Each is examined again until that
// succeeds, for what has changed since it was examined last.
extension ObservedTree {
  /// Notes that a directory could not be examined, or one of its entries could not.
  mutating func setUnexamined(_ directory: Entry, _ error: SystemError) {
    // Only another name above it helps, with which it is listed anew.
    if error.code == ENAMETOOLONG { return }
    let known = directories.unexamined[directory]
    let arePermissionsMissing = error.code == EACCES || error.code == EPERM
    // If it cannot be looked up, the directory that cannot be searched may be above the roots. One that may be searched,
    // and not read, hints nothing of the names in it.
    let areHinted =
      arePermissionsMissing && source?.namesEntries == true
      && directories.coverage(of: directory) != .named
      && disk.exists(snapshot.path(of: directory), followsLinks: true)
    directories.unexamined[directory] = DirectoryTable.Unexamined(
      since: known?.since ?? walk.comparedUntil, isHinted: (known?.isHinted ?? true) && areHinted)
  }

  /// Whether a directory must be examined again without a hint. Without a source, all are polled.
  func isUnhinted(_ directory: Entry) -> Bool {
    source != nil && directories.unexamined[directory]?.isHinted == false
  }

  /// Examines directories again after the attributes of a directory around them were changed.
  mutating func examineAgain(in directory: Entry) {
    if directories.unexamined.isEmpty { return }
    let unexamined = directories.unexamined.keys.filter {
      directories[$0] == nil || snapshot.isWithin($0, directory)
    }
    // In an order that does not depend on hashes.
    for entry in unexamined.sorted(by: { $0.number < $1.number }) { examineAgain(entry) }
  }

  mutating func examineAgain(_ directory: Entry) {
    guard let known = directories.unexamined.removeValue(forKey: directory) else { return }
    let mode = Occasion.diff(since: known.since, .directory)
    if roots[directory] != nil, !isMissing(directory), lookUpRoot(directory, for: mode),
      directories[directory] == nil
    {
      // It is a file.
      compareEntry(directory, for: mode)
    }
    for root in missingRoots where snapshot.isWithin(root, directory) { rootMayHaveAppeared(root) }
    guard let details = directories[directory] else { return }
    if details.coverage == .named { compareNamedEntries(in: directory, for: mode) }
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    scanNow(directory, for: isUnread ? .discover : .diff(since: known.since, .tree))
    // What was not found is still not known.
    directories.unexamined[directory]?.since = known.since
  }
}
