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
    if !roots.links.areFollowed && roots[link] == nil { return }
    let areTargetsKnown =
      !isChanged && !occasion.isRefilter && roots.links.contains(path.path)
    if areTargetsKnown && directories[link] == nil { return }
    guard roots.links.areFollowed else { return watchTargets(ofLink: link, isReported: isChanged) }
    let target = try? disk.status(of: path.path, followsLinks: true)
    if directories[link] != nil,
      target.map({ roots.links.realDirectories[realDirectory($0, at: link)] }) != link
    {
      removeDescendants(link: link)
    }
    if !areTargetsKnown || directories[link] == nil {
      watchTargets(ofLink: link, isReported: isChanged)
    }
    guard let target, target.type == .directory, site.isRecursive else { return }
    guard mayEnter(path, site.stack) else {
      // The rules exclude it now.
      return removeDescendants(link: link, areReported: false)
    }
    if occasion.isHint {
      scanNow { $0.descend(link, site.stack, for: .discover) }
    } else {
      descend(link, site.stack, for: directories[link] == nil ? occasion.forNewDirectory : occasion)
    }
  }

  /// Marks the links that have a target at a path where an entry has appeared, disappeared or been
  /// replaced.
  mutating func markStaleLinks(_ path: Path, _ kind: RawEvent.Kind, _ type: FileType) {
    switch kind {
    case .modified where type != .symlink, .metadata:
      break
    case .created, .removed, .modified:
      roots.links.stale.formUnion(roots.links.links(to: path))
    }
  }

  /// Resolves stale links again.
  mutating func refreshLinks() {
    if roots.links.stale.isEmpty { return }
    let stale = roots.links.stale
    roots.links.stale = []
    for link in stale {
      guard let entry = snapshot.entry(at: link) else { continue }
      if roots.isReported(entry),
        !lookUpRoot(entry, for: comparison) || snapshot.type(of: entry) == .directory
      {
        // Before it is resolved, because what is found meanwhile may be on its way.
        roots.links.stale.remove(link)
        // More of the way to it may exist now, or less, or there is another one.
        if isMissing(entry) { awaitReturn(entry) }
        watchTargets(ofLink: entry)
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

  /// Whether a directory is known by this entry and not by another one in the same root. If links are
  /// followed, the first entry counts.
  mutating func isPrimaryName(_ directory: Entry, for path: Path) -> Bool {
    guard roots.links.areFollowed, let status = try? disk.status(of: path, followsLinks: true)
    else {
      return true
    }
    let name = realDirectory(status, at: directory)
    if let other = roots.links.realDirectories[name], other != directory,
      directories[other] != nil,
      let otherStatus = try? disk.status(of: snapshot.path(of: other), followsLinks: true),
      FileIdentity(otherStatus) == name.identity
    {
      return false
    }
    roots.links.realDirectories[name] = directory
    if roots.links.realDirectories.count > 1024 + 2 * directories.count {
      roots.links.realDirectories = roots.links.realDirectories.filter {
        directories[$0.value] != nil
      }
    }
    return true
  }

  private func realDirectory(_ status: FileStatus, at entry: Entry) -> Links.RealDirectory {
    var root = entry
    while !roots.isDirectory(root), let parent = snapshot.parent(of: root) { root = parent }
    return Links.RealDirectory(identity: FileIdentity(status), root: root)
  }

  /// Keeps a directory that is known by another name until that has disappeared.
  mutating func awaitTurn(_ directory: Entry) {
    guard let watch = directories[directory]?.watch else { return stopWatching(directory) }
    if directories.removeWatch(of: directory) != nil { directories.retired.insert(watch) }
    directories.otherNames[watch, default: []].insert(directory)
  }

  /// Scans the other names of a directory, whose watch is no longer in force.
  mutating func scanOtherNames(of watch: Int32) {
    if directories.otherNames.isEmpty { return }
    for directory in directories.otherNames.removeValue(forKey: watch) ?? [] {
      guard let details = directories[directory], details.watch == nil else { continue }
      scanNow(directory, for: .discover)
    }
  }

  /// Removes the descendants of a link that points elsewhere, or is not entered any more.
  mutating func removeDescendants(link: Entry, areReported: Bool = true) {
    if areReported { reportRemovedChildren(of: link) }
    for child in snapshot.children(of: link) { removeSubtree(child) }
    stopWatching(link)
  }

  /// Watches the target of a link, and the other links on the way there, as roots; of a root, also all that is on
  /// the way to itself and can be replaced. Directories and entries that are reported under a path of their own are
  /// watched already.
  ///
  /// - Parameter isReported: Whether the link is reported as changed, and with it the states of new
  ///   targets.
  mutating func watchTargets(ofLink link: Entry, isReported: Bool = false) {
    let linkPath = snapshot.path(of: link)
    var targets: Set<Path> = []
    var end: Path?
    let isRoot = roots.isReported(link)
    // The link may have come to lead to a directory after the lookup.
    let isAwaited = isRoot && (isMissing(link) || snapshot.type(of: link) != .directory)
    func add(_ chain: LinkChain, to targets: inout Set<Path>) {
      targets.formUnion(chain.links)
      if isRoot || roots.links.areFollowed {
        targets.formUnion(chain.steps.filter(roots.isReplaceable))
      }
      if (try? disk.status(of: chain.end).type) != .directory { targets.insert(chain.end) }
    }
    let isExcluded = roots[link] == nil && self.isReported(linkPath) == false
    if !isExcluded, let chain = LinkChain(from: linkPath, on: disk) {
      add(chain, to: &targets)
      end = chain.end
      if isAwaited { targets.insert(chain.end) }
      if isRoot { watchByName(parentOf: link) }
    }
    if isRoot, let chain = LinkChain(above: linkPath, on: disk),
      !chain.links.isEmpty || roots.isReplaceable(linkPath)
    {
      add(chain, to: &targets)
    }
    targets.remove(linkPath)
    if roots[link] == nil { targets = targets.filter { !isCovered($0) } }
    setTargets(targets, end: end, ofLink: linkPath)
    for target in targets where !isCovered(target) {
      if let entry = snapshot.entry(at: target), roots[entry] != nil {
        // What it was watched by may have gone meanwhile.
        if isMissing(entry) { awaitReturn(entry) } else { watchByName(parentOf: entry) }
        continue
      }
      self.add(.init(path: target, coverage: .linked))
      if isReported, let entry = snapshot.entry(at: target),
        let status = try? disk.status(of: target)
      {
        snapshot.setFingerprint(fingerprint(status), of: entry)
      }
    }
    if isAwaited, let status = try? disk.status(of: linkPath, followsLinks: true),
      isMissing(link) || status.type == .directory
    {
      _ = lookUpRoot(link, for: comparison)
    }
  }

  /// Whether changes at a path are reported under this path, regardless of links.
  private func isCovered(_ path: Path) -> Bool {
    snapshot.entry(at: path).map(roots.isReported) == true || isReported(path) == true
  }

  /// Whether changes at a path are reported by the rules of its directory; `nil` if that is not
  /// observed.
  private func isReported(_ path: Path) -> Bool? {
    guard let parent = path.parent, let name = path.components.last,
      let directory = snapshot.entry(at: parent), isObserved(directory)
    else { return nil }
    let entry = Array(name).withUnsafeBufferPointer { entryPath(of: $0, in: directory) }
    return reports(entry, isDirectory: false, directories[directory]?.stack)
  }

  mutating func unwatchTargets(ofLink link: Path) {
    if !roots.links.isEmpty { setTargets([], end: nil, ofLink: link) }
  }

  private mutating func setTargets(_ targets: Set<Path>, end: Path?, ofLink link: Path) {
    for target in roots.links.setTargets(targets, end: end, of: link) {
      if let entry = snapshot.entry(at: target), roots[entry] == .linked { remove(rootAt: target) }
    }
  }

  /// An event with those of links that have its path as a target; without itself if the path is only
  /// watched for links.
  func attributedToLinks(_ event: RawEvent) -> [RawEvent] {
    let links = roots.links.links(to: event.path)
    if links.isEmpty { return [event] }
    let own = isWatchedForLinksOnly(event.path) ? [] : [event]
    // What is found where a directory on the way was replaced is reported by itself.
    let paths = links.filter { path in
      event.type != .directory || roots.links.doesLink(path, resolveTo: event.path)
    }
    // Whatever has happened to the target, the link itself still exists.
    let kind: RawEvent.Kind =
      switch event.kind {
      case .metadata: .metadata
      case .modified(let isOpen): .modified(isOpen: isOpen)
      case .created, .removed: .modified(isOpen: false)
      }
    // A root that is missing has been reported as removed, and a link on the way to a root is no root
    // itself.
    let reported = paths.filter { path in
      if isWatchedForLinksOnly(path) { return false }
      guard let entry = snapshot.entry(at: path) else { return true }
      return snapshot.type(of: entry) != .directory && !isMissing(entry)
    }.sorted().map { path in
      let type = snapshot.entry(at: path).map(snapshot.type) ?? .symlink
      return RawEvent(path: path, kind: kind, type: type)
    }
    return own + reported
  }

  private func isWatchedForLinksOnly(_ target: Path) -> Bool {
    snapshot.entry(at: target).map { roots[$0] == .linked } == true && isReported(target) != true
  }
}
