import PathFiltering
import SystemCalls

/// Identifies a file, whatever its name.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
  }
}

/// What is known about symbolic links.
struct Links {
  let areFollowed: Bool
  /// Which entry stands for which directory; kept where links are followed.
  var realDirectories: [FileIdentity: TreeSnapshot.Entry] = [:]
  /// The files that links point to, where changes to them appear in other directories.
  var targets = LinkTargets()
  /// Links that may have another target by now.
  var stale: Set<Path> = []

  init(areFollowed: Bool) {
    self.areFollowed = areFollowed
  }
}

// A link to a directory is entered, where links are followed, as if it were the directory, unless that is
// known by another name already. A link to a file counts for that file if the link is a root, or if links
// are followed and the file is not in the tree itself.
extension ObservedTree {
  /// Enters a link that leads to a directory, or takes note of the file that it leads to.
  mutating func followLink(
    _ link: Entry, at path: EntryPath, in site: Site, for occasion: Occasion, isChanged: Bool = true
  ) {
    if !links.areFollowed && roots[link] != .named { return }
    if !isChanged && links.targets.contains(path.path) { return }
    guard links.areFollowed else { return noteTarget(ofLink: link) }
    let target = try? FileStatus(of: path.path, followsLinks: true)
    if directories[link] != nil,
      target.map({ links.realDirectories[FileIdentity($0)] }) != link
    {
      removeBehind(link: link)
    }
    guard let target, target.type == .directory else { return noteTarget(ofLink: link) }
    guard site.isRecursive, mayEnter(path, site.stack) else { return }
    switch occasion {
    case .hint: visitAtOnce { $0.descend(link, site.stack, for: .discover) }
    case .scan(let mode):
      descend(link, site.stack, for: directories[link] == nil ? mode.forNewDirectory : mode)
    }
  }

  /// Takes note of links that lead over a path where something has appeared or disappeared,
  /// or where a link has another target.
  mutating func noteIfLinksAreStale(_ path: Path, _ kind: RawEvent.Kind, _ type: FileType) {
    switch kind {
    case .modified where type != .symlink, .metadata:
      break
    case .created, .removed, .movedFrom, .movedTo, .modified:
      links.stale.formUnion(links.targets.links(to: path))
    }
  }

  /// Looks up where links lead by now.
  mutating func refreshLinks() {
    if links.stale.isEmpty { return }
    let stale = links.stale
    links.stale = []
    // What was found of their targets is reported for the links before these have others.
    var moves = moves
    moves.replaceEvents { _, event in withLinkTargets([event]) }
    self.moves = moves
    for link in stale {
      guard let entry = existingEntry(at: link) else { continue }
      if isDirectoryRoot(entry) {
        _ = lookUpRoot(entry, because: [])
        if isMissing(entry) { noteTarget(ofLink: entry) }
      } else if snapshot.type(of: entry) == .symlink, let parent = snapshot.parent(of: entry),
        let details = directories[parent]
      {
        let site = Site(parent, details, stack: details.stack)
        followLink(entry, at: entryPath(of: entry), in: site, for: .hint(.appeared))
      }
    }
  }

  private func isDirectoryRoot(_ entry: Entry) -> Bool {
    roots[entry].map { $0 > .named } ?? false
  }

  /// Whether an entry is the one by which its directory is known: where links are followed, the first.
  mutating func isFirstName(_ directory: Entry, for path: Path) -> Bool {
    guard links.areFollowed, let status = try? FileStatus(of: path, followsLinks: true) else {
      return true
    }
    let identity = FileIdentity(status)
    if let other = links.realDirectories[identity], other != directory,
      directories[other] != nil,
      let otherStatus = try? FileStatus(of: snapshot.path(of: other), followsLinks: true),
      FileIdentity(otherStatus) == identity
    {
      return false
    }
    links.realDirectories[identity] = directory
    if links.realDirectories.count > 1024 + 2 * directories.count {
      links.realDirectories = links.realDirectories.filter { directories[$0.value] != nil }
    }
    return true
  }

  /// Removes what is known behind a link that leads elsewhere, or nowhere.
  mutating func removeBehind(link: Entry) {
    reportRemovedChildren(of: link)
    for child in snapshot.children(of: link) { removeSubtree(child) }
    releaseWatch(of: link)
  }

  /// Watches the target of a link, and the links on the way there, as roots. What is reported under a name of
  /// its own anyway, or is a directory, is watched already.
  mutating func noteTarget(ofLink link: Entry) {
    let linkPath = snapshot.path(of: link)
    var targets: Set<Path> = []
    if let trail = LinkTrail(from: linkPath) {
      targets = Set(trail.links)
      if (try? FileStatus(of: trail.end).type) != .directory { targets.insert(trail.end) }
      targets.remove(linkPath)
    }
    if roots[link] == nil { targets = targets.filter { !isCovered($0) } }
    let (added, removed) = links.targets.set(targets, of: linkPath)
    for target in removed { remove(rootAt: target) }
    for target in added where !isCovered(target) {
      add(.init(path: target, coverage: .named))
      links.targets.setAdded(target, true)
    }
  }

  /// Whether changes at a path are reported under its own name, whatever links lead there.
  private func isCovered(_ path: Path) -> Bool {
    if let entry = existingEntry(at: path), roots[entry] != nil { return true }
    let directory = path.parent.flatMap(existingEntry)
    return directory.flatMap { directories.coverage(of: $0) }.map { $0 > .named } ?? false
  }

  mutating func forgetTarget(ofLink link: Path) {
    if links.targets.isEmpty { return }
    for target in links.targets.remove(link) { remove(rootAt: target) }
  }

  /// Reports what happened to the targets of links under the names of the links.
  func withLinkTargets(_ events: [RawEvent]) -> [RawEvent] {
    if links.targets.isEmpty { return events }
    return events.flatMap { event -> [RawEvent] in
      let paths = links.targets.links(to: event.path)
      if paths.isEmpty { return [event] }
      // Whatever has become of the target: the link is there, and leads to something else.
      let kind: RawEvent.Kind =
        switch event.kind {
        case .metadata: .metadata
        case .modified(let isOpen): .modified(isOpen: isOpen)
        case .created, .removed, .movedFrom, .movedTo: .modified(isOpen: false)
        }
      let reported = paths.filter { !(existingEntry(at: $0).map(isDirectoryRoot) ?? false) }
        .sorted().map { RawEvent(path: $0, kind: kind, type: .symlink) }
      return (isForLinksAlone(event.path) ? [] : [event]) + reported
    }
  }

  private func isForLinksAlone(_ target: Path) -> Bool {
    guard links.targets.isAdded(target) else { return false }
    let directory = target.parent.flatMap(existingEntry).flatMap { directories[$0] }
    return directory.map { $0.coverage == .named } ?? true
  }
}
