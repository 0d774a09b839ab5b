import PathFiltering
import SystemCalls

// Roots are reached by their paths and not through a watched parent: they tell themselves when they
// go, and are waited for through their nearest parent that is there.
extension ObservedTree {
  /// Begins with a root, in which changes from a time on are told of. One that is not there is waited
  /// for.
  mutating func add(_ root: BackendConfiguration.Root, since: FileTime) {
    let entry = makeEntry(at: root.path)
    linkTargets.setAdded(root.path, false)
    snapshot.mark(entry, .wanted)
    roots[entry] = max(roots[entry] ?? .named, root.coverage)
    if (try? FileStatus(of: root.path)) == nil { snapshot.mark(entry, .absent) }
    returned(entry, purpose: .learn(since: since))
  }

  /// Ends with a root. What other roots cover stays watched; those that lie in it begin anew, so that
  /// each has again what it would have had without it.
  mutating func remove(rootAt path: Path) {
    guard let root = existingEntry(at: path), roots[root] != nil else { return }
    // What has changed before is told by the kernel, or is found since the last look.
    let since = comparesEntries ? lastLook : FileTime.now()
    forgetTarget(ofLink: path)
    let inner = roots.filter { $0.key != root && snapshot.isWithin($0.key, root) }.map {
      BackendConfiguration.Root(path: snapshot.path(of: $0.key), coverage: $0.value)
    }
    for entry in [root] + inner.compactMap({ existingEntry(at: $0.path) }) {
      roots[entry] = nil
      missingRoots.remove(entry)
      snapshot.unmark(entry, .wanted)
    }
    let parent = snapshot.parent(of: root)
    let around = parent.flatMap { table[$0] }
    let isThere = !snapshot.marks(of: root).contains(.absent)
    if let parent, let around, around.coverage == .recursive, isThere {
      // It stays, by the rules of what is around it.
      if let stack = around.stack, table[root] != nil { table.setStack(stack, of: root) }
      visitAtOnce(parent, for: .judge)
    } else {
      removeSubtree(root)
      if let parent, around?.coverage == .entries {
        visitAtOnce(parent, for: .judge)
      } else if let parent {
        forgetIfUnneeded(parent)
      }
    }
    for root in inner { addAtOnce(root, since: since) }
  }

  /// Begins with a root while the others are watched already.
  mutating func addAtOnce(_ root: BackendConfiguration.Root, since: FileTime) {
    add(root, since: since)
    while visitPending(atMost: .max) {}
    if comparesEntries { return }
    let entry = makeEntry(at: root.path)
    tellIfJustChanged(root: entry, at: root.path, since: since)
    for folder in table.watchedFolders where snapshot.isWithin(folder, entry) {
      visitAtOnce(folder, for: .compare(since: since, .untilWatched))
    }
  }

  /// What has come, or has changed, between the wish to watch it and this moment is told of.
  private mutating func tellIfJustChanged(root: Entry, at path: Path, since: FileTime) {
    guard let status = try? FileStatus(of: path), status.changed >= since else { return }
    let kind = status.kindOfChange(since: since)
    // A folder changes with each entry, and these are told of by themselves.
    guard status.type != .directory || kind == .created || status.isFolderMoved(since: since)
    else { return }
    emit(kind, status.type, at: path)
  }

  /// Gives up a folder that was watched for certain names only, and those above it, if none of them
  /// is left.
  private mutating func forgetIfUnneeded(_ folder: Entry) {
    var here: Entry? = folder
    while let folder = here, roots[folder] == nil, table[folder]?.coverage ?? .named == .named {
      let isNeeded = snapshot.children(of: folder).contains { child in
        let marks: TreeSnapshot.Marks = [.wanted, .awaited, .rules, .passage]
        return !snapshot.marks(of: child).isDisjoint(with: marks) || table[child] != nil
      }
      if isNeeded { return }
      releaseWatch(of: folder)
      snapshot.unmark(folder, [.awaited, .absent])
      here = snapshot.parent(of: folder)
    }
  }

  /// True for what was asked for by name.
  func isRoot(_ entry: Entry) -> Bool {
    snapshot.marks(of: entry).contains(.wanted)
  }

  /// True for a root that is a folder, and for what leads to one that is gone: these are not come
  /// upon in a watched folder's listing but looked up.
  func isReachedByPath(_ entry: Entry) -> Bool {
    roots[entry].map { $0 > .named } ?? snapshot.marks(of: entry).contains(.awaited)
  }

  /// A wanted entry, or one on the way to one, is there.
  mutating func returned(_ entry: Entry, purpose: Purpose = .tell) {
    guard let coverage = roots[entry] else {
      snapshot.unmark(entry, [.absent, .awaited])
      for root in missingRoots where snapshot.isWithin(root, entry) { returned(root) }
      return
    }
    let path = snapshot.path(of: entry)
    missingRoots.remove(entry)
    guard let status = try? FileStatus(of: path, followsLinks: coverage > .named) else {
      lose(root: entry)
      return
    }
    let isFolder = coverage > .named && status.type == .directory
    // Where nobody names entries, a link is only known by what is behind it.
    let isLink = isFolder && !comparesEntries && (try? FileStatus(of: path).type) == .symlink
    let isThere = !snapshot.marks(of: entry).contains(.absent)
    let isReplaced = isThere && (isLink || status.type != .directory)
    if case .tell = purpose, isThere && isLink { forgetBehind(link: entry) }
    snapshot.unmark(entry, [.absent, .awaited])
    snapshot.setType(status.type, of: entry)
    if case .tell = purpose {
      emit(isReplaced ? .modified(isOpen: false) : .created, status.type, at: path)
    }
    if !isFolder {
      // A file is watched through its folder, so that it may be replaced or come and go.
      watchByName(parentOf: entry, purpose)
      if status.type == .symlink { noteTarget(ofLink: entry) }
    } else {
      if isLink {
        watchByName(parentOf: entry, purpose)
        noteTarget(ofLink: entry)
      }
      table.add(entry, coverage: coverage, stack: rules(forRoot: path))
      switch purpose {
      case .learn: pending.append(Visit(folder: entry, purpose: purpose))
      case .tell, .judge, .compare: visitAtOnce(entry, for: purpose)
      }
    }
  }

  /// A folder that was reached by its path is gone.
  mutating func lose(_ folder: Entry) {
    guard table[folder] != nil else { return }
    if roots[folder] != nil {
      lose(root: folder)
    } else if snapshot.type(of: folder) == .symlink {
      forgetBehind(link: folder)
      staleLinks.insert(snapshot.path(of: folder))
    } else if table[folder]?.coverage == .named {
      let lost = roots.keys.filter { snapshot.isWithin($0, folder) }
      for root in lost { releaseWatches(from: root, upTo: folder) }
      // Those that were waited for here already are now waited for further up.
      for root in lost {
        missingRoots.remove(root)
        lose(root: root)
      }
    }
  }

  /// Gives back the watches of the folders on the way to a root: they have gone, and may go on elsewhere.
  private mutating func releaseWatches(from root: Entry, upTo folder: Entry) {
    var step = snapshot.parent(of: root)
    while let here = step, snapshot.isWithin(here, folder) {
      if roots[here] == nil, table[here]?.coverage == .named { releaseWatch(of: here) }
      step = snapshot.parent(of: here)
    }
  }

  /// A root is gone: what was below it is forgotten, and it is waited for.
  mutating func lose(root: Entry) {
    // Elsewhere, those have told of their own removal, or are still there under another name.
    if comparesEntries { tellRemovedChildren(of: root) }
    if !snapshot.marks(of: root).contains(.absent) {
      snapshot.mark(root, .absent)
      emit(.removed, snapshot.type(of: root), at: snapshot.path(of: root))
    }
    releaseWatch(of: root)
    snapshot.setFingerprint(.none, of: root)
    for child in snapshot.children(of: root) { removeSubtree(child) }
    if missingRoots.insert(root).inserted { waitFor(root) }
  }

  /// Watches the nearest folder above the root that is there, for the next name on the way to it.
  private mutating func waitFor(_ root: Entry) {
    // Where nothing is watched, it is looked for.
    if watcher == nil { return }
    var awaited = root
    while let folder = snapshot.parent(of: awaited) {
      if awaited != root { snapshot.mark(awaited, [.awaited, .absent]) }
      if table[folder]?.watch == nil {
        table.add(folder, coverage: .named, stack: nil)
        // One that is to be visited anyway, as a root, is visited now: what is in it is no news.
        let purpose = pending.last { $0.folder == folder }?.purpose
        pending.removeAll { $0.folder == folder }
        visitAtOnce(folder, for: purpose ?? .tell)
      }
      // Where there was no room for the watch, it is looked for.
      if table[folder]?.watch != nil || unwatched.contains(folder) {
        // It may have come back just before the watch was set.
        let isFile = roots[awaited] == .named
        if (try? FileStatus(of: snapshot.path(of: awaited), followsLinks: !isFile)) != nil {
          returned(awaited)
        } else {
          noteTarget(ofLink: awaited)
        }
        return
      }
      _ = table.remove(folder)
      awaited = folder
    }
  }

  mutating func watchByName(
    parentOf entry: Entry, _ purpose: Purpose = .learn(since: .latest())
  ) {
    guard let folder = snapshot.parent(of: entry) else { return }
    table.add(folder, coverage: .named, stack: nil)
    switch purpose {
    case .learn: visitAtOnce(folder, for: purpose)
    case .tell, .judge, .compare: visitAtOnce(folder, for: .learn(since: .latest()))
    }
  }

  /// Finds what has changed below all roots since a time, without the kernel's help.
  mutating func compareAll(since: FileTime) {
    // One look shows all the files of a folder.
    var compared: Set<Entry> = []
    for (root, coverage) in roots where roots[root] != nil && !missingRoots.contains(root) {
      if coverage > .named {
        visitAtOnce(root, for: .compare(since: since, .everything))
      } else if let folder = snapshot.parent(of: root), table[folder]?.coverage == .named,
        compared.insert(folder).inserted
      {
        visitAtOnce(folder, for: .compare(since: since, .everything))
      }
    }
  }
}
