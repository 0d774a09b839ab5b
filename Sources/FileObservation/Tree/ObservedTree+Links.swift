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
    if areTargetsKnown && directories[link] == nil && !isOtherNameGone(link, at: path.path) {
      return
    }
    guard roots.links.areFollowed else { return watchWay(of: link, isReported: isChanged) }
    if directories[link] != nil {
      let target = try? disk.status(of: path.path, followsLinks: true)
      let known = target.map { roots.links.realDirectories[realDirectory($0, at: link)] }
      if known != link { removeDescendants(link: link) }
    }
    if !areTargetsKnown || directories[link] == nil {
      watchWay(of: link, isReported: isChanged)
    }
    // What is there after its way is watched: it may be back meanwhile.
    let target = try? disk.status(of: path.path, followsLinks: true)
    guard target?.type == .directory, site.isRecursive else { return }
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

  /// Resolves stale links again, and those that are stale because of what is found.
  mutating func refreshLinks() {
    for _ in 0..<Way.maximumLength where !roots.links.stale.isEmpty {
      // In an order that does not depend on hashes.
      let stale = roots.links.stale.sorted()
      roots.links.stale = []
      for link in stale { refresh(link) }
    }
  }

  private mutating func refresh(_ link: Path) {
    guard let entry = snapshot.entry(at: link) else { return }
    if roots.isReported(entry) {
      let isFile = lookUpRoot(entry, for: comparison) && snapshot.type(of: entry) != .directory
      // Before it is resolved, because what is found meanwhile may be on its way.
      roots.links.stale.remove(link)
      // The path of its directory may lead to another one.
      if isFile, let directory = snapshot.parent(of: entry),
        directories.coverage(of: directory) == .named
      {
        stopWatching(directory)
      }
      watchWay(of: entry, isReported: isFile)
      if !isFile || isMissing(entry) { return }
      do throws(SystemError) {
        _ = try disk.status(of: link)
      } catch {
        // Perhaps with its directory, which is not watched then.
        if error.isNotFound { return rootDisappeared(entry) }
      }
      compareEntry(entry, for: comparison)
    } else if snapshot.type(of: entry) == .symlink, let parent = snapshot.parent(of: entry),
      let details = directories[parent]
    {
      let site = Site(directory: parent, details: details, stack: details.stack)
      followLink(entry, at: entryPath(of: entry), in: site, for: .hint(.appeared))
    }
  }

  /// The entry by which a directory is known in its root: if links are followed, the first one that was found.
  mutating func primaryName(of directory: Entry, at path: Path) -> Entry {
    guard roots.links.areFollowed, let status = try? disk.status(of: path, followsLinks: true)
    else {
      return directory
    }
    let name = realDirectory(status, at: directory)
    if let other = roots.links.realDirectories[name], other != directory,
      directories[other] != nil, isSameDirectory(other, directory)
    {
      return other
    }
    roots.links.realDirectories[name] = directory
    if roots.links.realDirectories.count > 1024 + 2 * directories.count {
      roots.links.realDirectories = roots.links.realDirectories.filter {
        directories[$0.value] != nil
      }
    }
    return directory
  }

  /// Whether the directory that a link leads to is not observed by another name any more. With a watch, that is noticed
  /// (`scanOtherNames`).
  private func isOtherNameGone(_ link: Entry, at path: Path) -> Bool {
    guard roots.links.areFollowed, source == nil || !directories.unwatched.isEmpty,
      let status = try? disk.status(of: path, followsLinks: true), status.type == .directory,
      let other = roots.links.realDirectories[realDirectory(status, at: link)]
    else { return false }
    return directories[other] == nil
  }

  private func realDirectory(_ status: FileStatus, at entry: Entry) -> Links.RealDirectory {
    var root = entry
    while !roots.isDirectory(root), let parent = snapshot.parent(of: root) { root = parent }
    return Links.RealDirectory(identity: FileIdentity(status), root: root)
  }

  /// Keeps a directory that is known by another name until that has disappeared.
  mutating func awaitTurn(_ directory: Entry, behind primary: Entry) {
    guard let watch = directories[directory]?.watch else { return stopWatching(directory) }
    let kept = directories[primary]?.watch ?? watch
    directories.otherNames[kept, default: []].insert(directory)
    guard directories.removeWatch(of: directory) != nil else { return }
    // Each name may have a watch of its own.
    if kept != watch {
      source?.unwatch(watch)
      return
    }
    // There was none for the primary name, which was polled.
    _ = assign(watch, to: primary)
    scanNow(primary, for: .diff(since: start, .directory))
  }

  /// Scans the other names of a directory, whose watch is no longer in force.
  mutating func scanOtherNames(of watch: Int32) {
    if directories.otherNames.isEmpty { return }
    for directory in directories.otherNames.removeValue(forKey: watch) ?? [] {
      // Another one may have its number by now, which is scanned in its turn.
      guard let details = directories[directory], details.watch == nil,
        !snapshot.marks(of: directory).contains(.unread)
      else { continue }
      scanNow(directory, for: .discover)
    }
  }

  /// Removes the descendants of a link that points elsewhere, or is not entered any more.
  mutating func removeDescendants(link: Entry, areReported: Bool = true) {
    if areReported { reportRemovedChildren(of: link) }
    for child in snapshot.children(of: link) { removeSubtree(child) }
    stopWatching(link)
  }

  /// Watches, by their names, the links on the way to a root or from a link, the first on it that does not exist,
  /// the file at its end, and on the way to a root all that can be replaced. They are roots, unless they are reported
  /// under a path of their own.
  ///
  /// - Parameter isReported: Whether the link is reported as changed, and with it the states of new
  ///   targets.
  mutating func watchWay(of link: Entry, isReported: Bool = false) {
    if roots[link] == .linked { return }
    let path = snapshot.path(of: link)
    let isRoot = roots.isReported(link)
    // Again, if something was not watched while the way was looked up, or had gone before it was.
    for _ in 0..<Way.maximumLength {
      let (targets, end, missing) = targets(of: link, at: path)
      // What was awaited, and is there by now, is a change of the link as well.
      for former in roots.links.targets(of: path).subtracting(targets) {
        if let entry = snapshot.entry(at: former) { rootMayHaveAppeared(entry) }
      }
      setTargets(targets.subtracting([path]), end: end, ofLink: path)
      var wereWatched = true
      for target in targets where target == path || !isCovered(target) {
        let wasWatched = watch(target: target, isReported: isReported)
        // What is in a directory that does not exist is watched when that has appeared.
        let isAwaited = missing.map { target != $0 && target.isWithin($0) } ?? false
        if !wasWatched && !isAwaited { wereWatched = false }
      }
      if wereWatched { break }
    }
    // Meanwhile it may have appeared, or become a directory.
    guard isRoot, let found = try? lookUp(link, at: path).status else { return }
    if isMissing(link) {
      rootAppeared(link)
    } else if snapshot.type(of: link) != .directory && found.type == .directory {
      _ = lookUpRoot(link, for: comparison)
    }
  }

  /// Watches a target by its name. Returns whether that was so before.
  private mutating func watch(target: Path, isReported: Bool) -> Bool {
    let entry = snapshot.makeEntry(at: target)
    let isKnown = roots[entry] != nil
    if !isKnown {
      add(.init(path: target, coverage: .linked))
      if isReported, let status = try? disk.status(of: target) {
        snapshot.setFingerprint(fingerprint(status), of: entry)
      }
    }
    let wasWatched = watchByName(parentOf: entry)
    if roots[entry] == .linked && isMissing(entry) && disk.exists(target, followsLinks: false) {
      rootAppeared(entry)
    }
    return isKnown && wasWatched
  }

  /// Whether a root exists, neither is a link nor is reached by one, and nothing on the way to it can be replaced.
  private func isPlain(_ root: Entry, at path: Path) -> Bool {
    !isMissing(root) && !roots.links.contains(path) && directories.unexamined.isEmpty
      && path.parent.map(roots.isReplaceable) != true && (try? disk.resolved(path)) == path
  }

  /// The paths that must be watched by name because of a root or a link, the end of a link, and the first on the way
  /// that does not exist.
  ///
  /// | target | when |
  /// |---|---|
  /// | each link on the way | always |
  /// | what can be replaced, or not be examined, on the way | for a root, or if links are followed |
  /// | the first name that does not exist | unless it is polled for |
  /// | the end of a link | unless it is a directory: also while it is missing |
  /// | the root's own name | if it is missing, no directory, a link, or the top of a file system, and the way leads to it |
  ///
  /// For a link that is no root, what is noticed without that is left out.
  private func targets(of link: Entry, at path: Path) -> (Set<Path>, end: Path?, missing: Path?) {
    let isRoot = roots.isReported(link)
    if isRoot, isPlain(link, at: path) {
      return (snapshot.type(of: link) != .directory || isTop(path) ? [path] : [], nil, nil)
    }
    // A link to a directory is entered, whatever the filters say of its name.
    let isReported = isRoot || isReported(path, isDirectory: false) != false
    let isEntered = roots.links.areFollowed && rules(at: path).map(mayEnter) == true
    guard isReported || isEntered,
      let way = isRoot ? Way(to: path, on: disk) : Way(from: path, on: disk)
    else { return ([], nil, nil) }
    var targets = Set(way.links)
    if isRoot || roots.links.areFollowed {
      targets.formUnion(
        way.steps.filter { step in
          roots.isReplaceable(step)
            || snapshot.entry(at: step).map { directories.unexamined[$0] != nil } ?? false
        })
    }
    // Missing roots are polled.
    if source != nil, let missing = way.missing { targets.insert(missing) }
    // Also while it is missing: it may come back together with its directory.
    if way.isLink, isReported || source == nil,
      (try? disk.status(of: way.end).type) != .directory
    {
      targets.insert(way.end)
    }
    targets.remove(path)
    if !isRoot {
      targets = targets.filter { target in
        !isCovered(target) || target == way.missing && target != way.end
          || way.links.contains(target) && self.isReported(target, isDirectory: false) != true
      }
    }
    let isDirectory = snapshot.type(of: link) == .directory
    let needsOwnName =
      isMissing(link) ? source != nil : !isDirectory || way.isLink || isTop(path)
    if isRoot, needsOwnName, way.isLink || way.missing == nil || way.missing == way.own {
      // A file is compared under its own path.
      targets.insert(isMissing(link) || isDirectory ? way.own ?? path : path)
    }
    return (targets, way.isLink ? way.end : nil, way.missing)
  }

  /// Makes a target an entry like others if it is found in a directory that is observed by now. Returns whether it is.
  mutating func releaseIfCovered(_ target: Entry) -> Bool {
    guard roots[target] == .linked, isCovered(snapshot.path(of: target)) else { return false }
    release(target)
    if directories[target] == nil {
      unwatch(target)
      watchFileIfNeeded(target, at: entryPath(of: target))
    }
    return true
  }

  /// Makes a target an entry like others. One of which the entries are observed is never a root for links only: its
  /// directory notices when another takes its place, whether that is reported or not.
  mutating func release(_ target: Entry) {
    guard isRoot(target), roots[target] == .linked else { return }
    roots.remove(target)
    snapshot.unmark(target, .root)
  }

  /// Whether changes at a path are noticed regardless of links, whatever is there.
  private func isCovered(_ path: Path) -> Bool {
    let entry = snapshot.entry(at: path)
    if let entry {
      if roots.isReported(entry) || isObserved(entry) { return true }
      // It is new when it is found.
      if roots[entry] == nil, isMissing(entry), isInDirectory(entry, withCoverage: .entries) {
        return true
      }
    }
    guard let (path, stack) = rules(at: path), mayEnter(path, stack) else { return false }
    return reports(path, isDirectory: false, stack) || entry.map(isEntered) == true
  }

  /// Whether an entry is a directory that is observed, or will be when its own is listed, unless the rules exclude it.
  private func isEntered(_ entry: Entry) -> Bool {
    !isMissing(entry) && snapshot.type(of: entry) == .directory
      && isInDirectory(entry, withCoverage: .recursive)
  }

  /// Whether changes at a path are reported by the rules of its directory; `nil` if that is not
  /// observed.
  private func isReported(_ path: Path, isDirectory: Bool) -> Bool? {
    rules(at: path).map {
      reports($0.path, isDirectory: isDirectory, $0.stack)
        && (!isDirectory || mayEnter($0.path, $0.stack))
    }
  }

  /// The rules for a path; `nil` if its directory is not observed.
  private func rules(at path: Path) -> (path: EntryPath, stack: IgnoreStack?)? {
    guard let parent = path.parent, let directory = snapshot.entry(at: parent),
      isObserved(directory)
    else { return nil }
    let entry = Array(path.lastComponent).withUnsafeBufferPointer {
      entryPath(of: $0, in: directory)
    }
    return (entry, directories[directory]?.stack)
  }

  mutating func unwatchTargets(ofLink link: Path) {
    if !roots.links.isEmpty { setTargets([], end: nil, ofLink: link) }
  }

  private mutating func setTargets(_ targets: Set<Path>, end: Path?, ofLink link: Path) {
    for target in roots.links.setTargets(targets, end: end, of: link) {
      if let entry = snapshot.entry(at: target), roots[entry] == .linked { remove(rootAt: target) }
    }
  }

  /// An event with those of links that have its path as a target; without itself if it is not reported, or the path
  /// is only watched for links.
  func attributedToLinks(_ event: RawEvent, _ isReported: Bool) -> [RawEvent] {
    let links = roots.links.links(to: event.path)
    let own = isReported && (links.isEmpty || !isWatchedForLinksOnly(event)) ? [event] : []
    if links.isEmpty { return own }
    // What is found by what has appeared on the way is reported by itself.
    let paths = links.filter { path in
      event.type == .symlink || roots.links.doesLink(path, resolveTo: event.path)
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
      guard let entry = snapshot.entry(at: path) else { return true }
      return snapshot.type(of: entry) != .directory && !isMissing(entry)
        && (roots.isReported(entry) || self.isReported(path, isDirectory: false) != false)
    }.sorted().map { path in
      let type = snapshot.entry(at: path).map(snapshot.type) ?? .symlink
      return RawEvent(path: path, kind: kind, type: type)
    }
    return own + reported
  }

  private func isWatchedForLinksOnly(_ event: RawEvent) -> Bool {
    snapshot.entry(at: event.path).map { roots[$0] == .linked } == true
      && isReported(event.path, isDirectory: event.type == .directory) != true
  }
}
