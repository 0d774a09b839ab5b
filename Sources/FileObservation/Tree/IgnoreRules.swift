import PathFiltering
import SystemCalls

/// The directories in which ignore files have changed.
struct IgnoreRules {
  /// The ignore files that the first scan has read; `nil` once they were reported.
  var filesOfFirstScan: [Path: IgnoreFile]? = [:]
  /// Ignore files outside of the roots to which they apply, links' targets among them. They are watched by name.
  var files: Set<TreeSnapshot.Entry> = []
  /// Directories with a changed ignore file. They and their descendants must be filtered again.
  var stale: Set<TreeSnapshot.Entry> = []
  /// Directories that must be filtered again, with the rules that come into force there then. The
  /// last is the next.
  private var pending: [TreeSnapshot.Entry] = []
  private var pendingStacks: [TreeSnapshot.Entry: IgnoreStack] = [:]
  /// When the tree had last been compared before the pending directories became so.
  var pendingSince: FileTime?

  var isPending: Bool { !pending.isEmpty }

  /// Makes a directory pending, unless it is: then only its rules are replaced. Links are last.
  mutating func makePending(
    _ directory: TreeSnapshot.Entry, _ stack: IgnoreStack, since: FileTime, isLink: Bool
  ) {
    if pendingSince == nil { pendingSince = since }
    guard pendingStacks.updateValue(stack, forKey: directory) == nil else { return }
    pending.insert(directory, at: isLink ? 0 : pending.endIndex)
  }

  /// The next directory to filter. It stays pending until its rules are taken.
  mutating func nextPending() -> TreeSnapshot.Entry? {
    while let next = pending.popLast() {
      if pendingStacks[next] != nil { return next }
    }
    return nil
  }

  func pendingStack(of directory: TreeSnapshot.Entry) -> IgnoreStack? {
    pendingStacks.isEmpty ? nil : pendingStacks[directory]
  }

  /// The rules that come into force in a directory that is filtered now, or removed.
  @discardableResult
  mutating func takePendingStack(of directory: TreeSnapshot.Entry) -> IgnoreStack? {
    pendingStacks.isEmpty ? nil : pendingStacks.removeValue(forKey: directory)
  }
}
