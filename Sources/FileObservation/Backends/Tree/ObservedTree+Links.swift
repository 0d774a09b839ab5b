import PathFiltering
import SystemCalls

/// Which file it really is, by whatever name.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
  }
}

// Symbolic links. A link to a folder is entered, where that was asked for, as if it were a folder,
// unless the folder is known by another name already. A link to a file counts for that file if the
// link was asked for by name, or if links are followed and the file is not in the tree itself.
extension ObservedTree {
  /// Enters a link, whose path stands in `path`, if it leads to a folder.
  mutating func follow(
    _ link: Entry, _ nameStart: Int, _ isRecursive: Bool, _ stack: IgnoreStack?, _ purpose: Purpose
  ) {
    let linkPath = Path(bytes: path)
    defer { path = linkPath.bytes }
    let target = try? FileStatus(of: linkPath, followsLinks: true)
    if table[link] != nil, target.map({ realFolders[FileIdentity($0)] }) != link {
      forgetBehind(link: link)
    }
    guard let target, target.type == .directory else {
      noteTarget(ofLink: link)
      return
    }
    if isRecursive && mayEnter(nameStart, stack) { descend(link, stack, for: purpose) }
  }

  /// A link has come to a watched folder.
  mutating func followIfWanted(_ place: Place) {
    let entry = place.name.withUnsafeBufferPointer { snapshot.child($0, of: place.folder) }
    if let entry { followIfWanted(entry) }
  }

  private mutating func followIfWanted(_ link: Entry) {
    guard let parent = snapshot.parent(of: link).flatMap({ table[$0] }) else { return }
    if followsLinks {
      snapshot.putPath(of: link, into: &path)
      let nameStart = path.count - snapshot.name(of: link).count
      let others = (pending, pendingLinks)
      (pending, pendingLinks) = ([], [])
      follow(link, nameStart, parent.coverage == .recursive, parent.stack, .tell)
      while visitPending(atMost: .max) {}
      (pending, pendingLinks) = others
    } else if roots[link] == .named {
      noteTarget(ofLink: link)
    }
  }

  /// Remembers the links that lead over a place where something has come or gone.
  mutating func noteIfLinksAreStale(_ path: Path, _ kind: RawEvent.Kind) {
    switch kind {
    case .created, .removed, .movedFrom, .movedTo:
      staleLinks.formUnion(linkTargets.links(to: path))
    case .modified, .metadata:
      break
    }
  }

  /// Looks where links lead by now, of which that may have changed.
  mutating func refreshLinks() {
    if staleLinks.isEmpty { return }
    let links = staleLinks
    staleLinks = []
    assignToLinks()
    for link in links {
      guard let entry = existingEntry(at: link) else { continue }
      if isFolderRoot(entry) {
        let isThere = (try? FileStatus(of: link, followsLinks: true)) != nil
        if isThere || !missingRoots.contains(entry) { returned(entry) }
        if !isThere { noteTarget(ofLink: entry) }
      } else if snapshot.type(of: entry) == .symlink {
        followIfWanted(entry)
      }
    }
  }

  private func isFolderRoot(_ entry: Entry) -> Bool {
    roots[entry].map { $0 > .named } ?? false
  }

  /// Which folder the entry's path leads to.
  func identity(of folder: Entry) -> FileIdentity? {
    let followsLinks = isAnchor(folder, table[folder])
    let status = try? FileStatus(of: snapshot.path(of: folder), followsLinks: followsLinks)
    return status.map(FileIdentity.init)
  }

  /// True for two names of one folder that are both in use.
  func isSameFolder(_ one: Entry, _ other: Entry) -> Bool {
    guard let first = identity(of: one), let second = identity(of: other) else { return false }
    return first == second
  }

  /// True unless links are followed and the folder is known by another name: the first counts.
  mutating func isFirstName(_ folder: Entry, for path: Path) -> Bool {
    guard followsLinks, let status = try? FileStatus(of: path, followsLinks: true) else {
      return true
    }
    let identity = FileIdentity(status)
    if let other = realFolders[identity], other != folder, table[other] != nil,
      let otherStatus = try? FileStatus(of: snapshot.path(of: other), followsLinks: true),
      FileIdentity(otherStatus) == identity
    {
      return false
    }
    realFolders[identity] = folder
    if realFolders.count > mostRealFolders {
      realFolders = realFolders.filter { table[$0.value] != nil }
      mostRealFolders = max(mostRealFolders, realFolders.count * 2)
    }
    return true
  }

  /// The link leads elsewhere, or nowhere: what was known behind it is gone.
  mutating func forgetBehind(link: Entry) {
    tellRemovedChildren(of: link)
    for child in snapshot.children(of: link) { removeSubtree(child) }
    releaseWatch(of: link)
  }

  /// Watches what a link points to, and the links on the way. A folder that is there is watched by
  /// itself; nothing is waited for. Where entries are compared, the link's fingerprint holds that
  /// already.
  mutating func noteTarget(ofLink link: Entry) {
    if comparesEntries { return }
    let linkPath = snapshot.path(of: link)
    forgetTarget(ofLink: linkPath)
    guard let trail = LinkTrail(from: linkPath) else { return }
    for target in trail.links where target != linkPath { note(target, ofLink: link, linkPath) }
    let isFolder = (try? FileStatus(of: trail.end).type) == .directory
    if trail.end != linkPath && !isFolder { note(trail.end, ofLink: link, linkPath) }
  }

  private mutating func note(_ target: Path, ofLink link: Entry, _ linkPath: Path) {
    let entry = makeEntry(at: target)
    if roots[link] == nil && isCovered(entry) { return }
    guard linkTargets.insert(linkPath, to: target), !isCovered(entry) else { return }
    add(.init(path: target, coverage: .named), since: .latest())
    linkTargets.setAdded(target, true)
  }

  /// True for what is told of by its own name, whatever leads to it.
  private func isCovered(_ entry: Entry) -> Bool {
    roots[entry] != nil
      || snapshot.parent(of: entry).flatMap { table[$0] }.map { $0.coverage > .named } ?? false
  }

  mutating func forgetTarget(ofLink link: Path) {
    for target in linkTargets.remove(link) { remove(rootAt: target) }
  }

  /// A folder is called otherwise from now on, or has gone: so do the links in it.
  mutating func forgetTargets(ofLinksBelow folder: Path) {
    if linkTargets.isEmpty { return }
    for link in linkTargets.links(below: folder) { forgetTarget(ofLink: link) }
  }

  /// Tells of what happened to the targets of links under the links' names.
  func withLinkTargets(_ events: [RawEvent]) -> [RawEvent] {
    if linkTargets.isEmpty { return events }
    return events.flatMap { event -> [RawEvent] in
      let links = linkTargets.links(to: event.path)
      if links.isEmpty { return [event] }
      // Whatever has become of the target: the link is there, and what it leads to is another.
      let kind: RawEvent.Kind =
        switch event.kind {
        case .metadata: .metadata
        case .modified(let isOpen): .modified(isOpen: isOpen)
        case .created, .removed, .movedFrom, .movedTo: .modified(isOpen: false)
        }
      let told = links.filter { !(existingEntry(at: $0).map(isFolderRoot) ?? false) }
        .sorted().map { RawEvent(path: $0, kind: kind, type: .symlink) }
      return (isForLinksAlone(event.path) ? [] : [event]) + told
    }
  }

  private func isForLinksAlone(_ target: Path) -> Bool {
    guard linkTargets.isAdded(target) else { return false }
    let folder = target.parent.flatMap(existingEntry).flatMap { table[$0] }
    return folder.map { $0.coverage == .named } ?? true
  }
}
