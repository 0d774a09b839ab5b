import SystemCalls

// Directories that cannot be examined for a while: without permissions, without a free descriptor, or
// because a file system has a fault. Nothing is concluded from that. Each is examined again until that
// succeeds, for what has changed since it was examined last.
extension ObservedTree {
  /// Notes that a directory could not be examined, or one of its entries could not.
  mutating func setUnexamined(_ directory: Entry, _ error: SystemError) {
    let known = directories.unexamined[directory]
    let arePermissionsMissing = error.code == EACCES || error.code == EPERM
    // If it cannot be looked up, the directory that cannot be searched may be above the roots.
    let areHinted =
      arePermissionsMissing && source?.namesEntries == true
      && disk.exists(snapshot.path(of: directory), followsLinks: true)
    directories.unexamined[directory] = DirectoryTable.Unexamined(
      since: known?.since ?? walk.comparedUntil, isHinted: (known?.isHinted ?? true) && areHinted)
  }

  /// Whether a directory must be examined again without a hint.
  var hasUnhintedDirectories: Bool {
    source != nil && directories.unexamined.contains { !$0.value.isHinted }
  }

  /// Examines again what has no hint when that is possible.
  mutating func examineUnhinted() {
    if hasUnhintedDirectories { examineAgain(directories.unexamined.filter { !$0.value.isHinted }) }
  }

  /// Examines directories again after the attributes of a directory around them were changed.
  mutating func examineAgain(in directory: Entry) {
    if directories.unexamined.isEmpty { return }
    examineAgain(
      directories.unexamined.filter {
        directories[$0.key] == nil || snapshot.isWithin($0.key, directory)
      })
  }

  private mutating func examineAgain(_ unexamined: [Entry: DirectoryTable.Unexamined]) {
    // In an order that does not depend on hashes.
    for directory in unexamined.keys.sorted(by: { $0.number < $1.number }) {
      examineAgain(directory)
    }
  }

  private mutating func examineAgain(_ directory: Entry) {
    guard let known = directories.unexamined.removeValue(forKey: directory) else { return }
    let mode = Occasion.diff(since: known.since, .directory)
    if roots[directory] != nil, !isMissing(directory), lookUpRoot(directory, for: mode),
      directories[directory] == nil
    {
      // It is a file.
      compareEntry(directory, for: mode)
    }
    for root in missingRoots where snapshot.isWithin(root, directory) { rootMayHaveAppeared(root) }
    guard directories[directory] != nil else { return }
    let isUnread = snapshot.marks(of: directory).contains(.unread)
    scanNow(directory, for: isUnread ? .discover : .diff(since: known.since, .tree))
    // What was not found is still not known.
    directories.unexamined[directory]?.since = known.since
  }
}
