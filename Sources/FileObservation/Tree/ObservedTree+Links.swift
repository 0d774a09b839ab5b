import PathFiltering
import SystemCalls

// If links are followed, a link to a directory is entered like a directory, unless the directory is
// known by another path. A change of a file is also a change of a link to it if the link is a root,
// or if links are followed and the file itself is not observed.
extension ObservedTree {
  /// Watches the target of a link to a file, and the links on the way. Enters a link to a directory.
  mutating func followLink(
    _ link: Entry, at path: EntryPath, in site: Site, for occasion: Occasion, isChanged: Bool = true
  ) {
    if !roots.links.areFollowed && roots[link] != .named { return }
    let areTargetsKnown =
      !isChanged && !occasion.isRefilter && roots.links.targets.contains(path.path)
    if areTargetsKnown && directories[link] == nil { return }
    guard roots.links.areFollowed else { return watchTargets(ofLink: link, isReported: isChanged) }
    let target = try? disk.status(of: path.path, followsLinks: true)
    if directories[link] != nil,
      target.map({ roots.links.realDirectories[FileIdentity($0)] }) != link
    {
      removeDescendants(link: link)
    }
    if !areTargetsKnown || directories[link] == nil {
      watchTargets(ofLink: link, isReported: isChanged)
    }
    guard let target, target.type == .directory, site.isRecursive, mayEnter(path, site.stack)
    else { return }
    switch occasion {
    case .hint: scanNow { $0.descend(link, site.stack, for: .discover) }
    case .scan(let mode):
      descend(link, site.stack, for: directories[link] == nil ? mode.forNewDirectory : mode)
    }
  }

  /// Marks the links that have a target at a path where an entry has appeared, disappeared or been
  /// replaced.
  mutating func markStaleLinks(_ path: Path, _ kind: RawEvent.Kind, _ type: FileType) {
    switch kind {
    case .modified where type != .symlink, .metadata:
      break
    case .created, .removed, .modified:
      roots.links.stale.formUnion(roots.links.targets.links(to: path))
    }
  }

  /// Resolves stale links again.
  mutating func refreshLinks() {
    if roots.links.stale.isEmpty { return }
    let stale = roots.links.stale
    roots.links.stale = []
    // Changes of the former targets are reported as changes of the links first.
    attributeEventsToLinks()
    for link in stale {
      guard let entry = existingEntry(at: link) else { continue }
      if isDirectoryRoot(entry) {
        _ = lookUpRoot(entry, for: .scan(comparison))
        // More of the way to it may exist now, or less.
        if isMissing(entry) { awaitReturn(entry) }
      } else if snapshot.type(of: entry) == .symlink, let parent = snapshot.parent(of: entry),
        let details = directories[parent]
      {
        let site = Site(parent, details, stack: details.stack)
        followLink(entry, at: entryPath(of: entry), in: site, for: .hint(.appeared))
      } else if roots[entry] != nil {
        // The path leads elsewhere.
        lookUpAnew(entry)
      }
    }
  }

  /// Looks up a file that is a root, in the directory to which its path leads now.
  private mutating func lookUpAnew(_ root: Entry) {
    if let directory = snapshot.parent(of: root), directories.coverage(of: directory) == .named {
      stopWatching(directory)
    }
    if isMissing(root) { awaitReturn(root) } else { rootDisappeared(root) }
    watchTargets(ofLink: root)
  }

  private func isDirectoryRoot(_ entry: Entry) -> Bool {
    roots[entry].map { $0 > .named } ?? false
  }

  /// Whether a directory is known by this entry and not by another one. If links are followed, the
  /// first entry counts.
  mutating func isPrimaryName(_ directory: Entry, for path: Path) -> Bool {
    guard roots.links.areFollowed, let status = try? disk.status(of: path, followsLinks: true)
    else {
      return true
    }
    let identity = FileIdentity(status)
    if let other = roots.links.realDirectories[identity], other != directory,
      directories[other] != nil,
      let otherStatus = try? disk.status(of: snapshot.path(of: other), followsLinks: true),
      FileIdentity(otherStatus) == identity
    {
      return false
    }
    roots.links.realDirectories[identity] = directory
    if roots.links.realDirectories.count > 1024 + 2 * directories.count {
      roots.links.realDirectories = roots.links.realDirectories.filter {
        directories[$0.value] != nil
      }
    }
    return true
  }

  /// Removes the descendants of a link that points elsewhere.
  mutating func removeDescendants(link: Entry) {
    reportRemovedChildren(of: link)
    for child in snapshot.children(of: link) { removeSubtree(child) }
    stopWatching(link)
  }

  /// Watches the target of a link, and the other links on the way there, as roots; of a root, also the links on
  /// the way to itself. Directories and entries that are reported under a path of their own are watched already.
  ///
  /// - Parameter isReported: Whether the link is reported as changed, and with it the states of new
  ///   targets.
  mutating func watchTargets(ofLink link: Entry, isReported: Bool = false) {
    let linkPath = snapshot.path(of: link)
    var targets: Set<Path> = []
    let isExcluded = roots[link] == nil && self.isReported(linkPath) == false
    if !isExcluded, let chain = LinkChain(from: linkPath, on: disk) {
      targets = Set(chain.links)
      if (try? disk.status(of: chain.end).type) != .directory { targets.insert(chain.end) }
      targets.remove(linkPath)
    }
    if let coverage = roots[link], !roots.links.targets.isForLinksOnly(linkPath) {
      targets.formUnion(roots.replaceableDirectories(above: linkPath, coverage))
      if let chain = LinkChain(above: linkPath, on: disk), !chain.links.isEmpty {
        targets.formUnion(chain.links)
        if (try? disk.status(of: chain.end).type) != .directory { targets.insert(chain.end) }
      }
    }
    if roots[link] == nil { targets = targets.filter { !isCovered($0) } }
    let (added, removed) = roots.links.targets.set(targets, of: linkPath)
    for target in removed { remove(rootAt: target) }
    for target in added where !isCovered(target) {
      add(.init(path: target, coverage: .named))
      roots.links.targets.setForLinksOnly(target, true)
      if isReported, let entry = existingEntry(at: target),
        let status = try? disk.status(of: target)
      {
        snapshot.setFingerprint(fingerprint(status), of: entry)
      }
    }
  }

  /// Whether changes at a path are reported under this path, regardless of links.
  private func isCovered(_ path: Path) -> Bool {
    if let entry = existingEntry(at: path), roots[entry] != nil,
      !roots.links.targets.isForLinksOnly(path)
    {
      return true
    }
    return isReported(path) ?? false
  }

  /// Whether changes at a path are reported by the rules of its directory; `nil` if that is not
  /// observed.
  private func isReported(_ path: Path) -> Bool? {
    guard let parent = path.parent, let name = path.components.last,
      let directory = existingEntry(at: parent), isObserved(directory)
    else { return nil }
    let entry = Array(name).withUnsafeBufferPointer { entryPath(of: $0, in: directory) }
    return reports(entry, isDirectory: false, directories[directory]?.stack)
  }

  mutating func unwatchTargets(ofLink link: Path) {
    if roots.links.targets.isEmpty { return }
    for target in roots.links.targets.remove(link) { remove(rootAt: target) }
  }

  /// Adds the events of links whose targets have events, and removes those of paths that are only
  /// watched for links.
  func attributedToLinks(_ events: [RawEvent]) -> [RawEvent] {
    if roots.links.targets.isEmpty { return events }
    return events.flatMap { event -> [RawEvent] in
      // What is found where a directory on the way was replaced is reported by itself.
      let paths = roots.links.targets.links(to: event.path).filter { path in
        event.type != .directory || !path.isWithin(event.path)
      }
      if paths.isEmpty { return isWatchedForLinksOnly(event.path) ? [] : [event] }
      // Whatever has happened to the target, the link itself still exists.
      let kind: RawEvent.Kind =
        switch event.kind {
        case .metadata: .metadata
        case .modified(let isOpen): .modified(isOpen: isOpen)
        case .created, .removed: .modified(isOpen: false)
        }
      let reported = paths.filter { !(existingEntry(at: $0).map(isDirectoryRoot) ?? false) }
        .sorted().map { path in
          let type = existingEntry(at: path).map(snapshot.type) ?? .symlink
          return RawEvent(path: path, kind: kind, type: type)
        }
      return (isWatchedForLinksOnly(event.path) ? [] : [event]) + reported
    }
  }

  private func isWatchedForLinksOnly(_ target: Path) -> Bool {
    roots.links.targets.isForLinksOnly(target) && isReported(target) != true
  }
}
