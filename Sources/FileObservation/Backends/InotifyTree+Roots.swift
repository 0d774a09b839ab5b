#if os(Linux)

import PathFiltering
import SystemCalls

// Roots are reached by their paths and not through a watched parent: they tell themselves when they
// go, and are waited for through their nearest parent that is there.
extension InotifyTree {
  /// Begins with a root that is there.
  mutating func add(_ root: BackendConfiguration.Root) {
    let entry = makeEntry(at: root.path)
    snapshot.mark(entry, .wanted)
    roots[entry] = max(roots[entry] ?? .named, root.coverage)
    returned(entry, purpose: .learn)
  }

  /// True for a folder whose watch must tell what becomes of it.
  func isAnchor(_ folder: Entry) -> Bool {
    roots[folder] != nil || table[folder]?.coverage == .named
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
    snapshot.unmark(entry, [.absent, .awaited])
    snapshot.setType(status.type, of: entry)
    if case .tell = purpose { emit(.created, status.type, at: path) }
    if coverage == .named || status.type != .directory {
      // A file is watched through its folder, so that it may be replaced or come and go.
      watchByName(parentOf: entry)
    } else {
      table.add(entry, coverage: coverage, stack: rules(forRoot: path))
      switch purpose {
      case .learn: pending.append(Visit(folder: entry, purpose: .learn))
      case .tell, .judge, .compare: visitAtOnce(entry, for: purpose)
      }
    }
  }

  /// A folder that was reached by its path is gone.
  mutating func lose(_ folder: Entry) {
    guard table[folder] != nil else { return }
    if roots[folder] != nil {
      lose(root: folder)
    } else if table[folder]?.coverage == .named {
      if let watch = table.remove(folder) { inotify.removeWatch(watch) }
      // Those that were waited for here already are now waited for further up.
      for root in roots.keys where snapshot.isWithin(root, folder) {
        missingRoots.remove(root)
        lose(root: root)
      }
    }
  }

  /// A root is gone: what was below it is forgotten, and it is waited for.
  mutating func lose(root: Entry) {
    if !snapshot.marks(of: root).contains(.absent) {
      snapshot.mark(root, .absent)
      emit(.removed, snapshot.type(of: root), at: snapshot.path(of: root))
    }
    if let watch = table.remove(root) { inotify.removeWatch(watch) }
    for child in snapshot.children(of: root) { removeSubtree(child) }
    if missingRoots.insert(root).inserted { waitFor(root) }
  }

  /// Watches the nearest folder above the root that is there, for the next name on the way to it.
  private mutating func waitFor(_ root: Entry) {
    var awaited = root
    while let folder = snapshot.parent(of: awaited) {
      if awaited != root { snapshot.mark(awaited, [.awaited, .absent]) }
      if table[folder]?.watch == nil {
        table.add(folder, coverage: .named, stack: nil)
        visitAtOnce(folder, for: .tell)
      }
      if table[folder]?.watch != nil {
        // It may have come back just before the watch was set.
        if (try? FileStatus(of: snapshot.path(of: awaited))) != nil { returned(awaited) }
        return
      }
      _ = table.remove(folder)
      awaited = folder
    }
  }

  mutating func watchByName(parentOf entry: Entry) {
    guard let folder = snapshot.parent(of: entry) else { return }
    table.add(folder, coverage: .named, stack: nil)
    visitAtOnce(folder, for: .learn)
  }

  /// What has been asked for in a folder of which nothing else counts.
  mutating func lookAtNamed(in folder: Entry, for purpose: Purpose) {
    guard case .compare(let since, let comparison) = purpose else { return }
    for entry in snapshot.children(of: folder) where roots[entry] == .named {
      let path = snapshot.path(of: entry)
      guard let status = try? FileStatus(of: path) else {
        if comparison != .untilWatched { lose(root: entry) }
        continue
      }
      let end = comparison == .untilWatched ? table[folder]?.watchedAt : nil
      if status.changed >= since, end.map({ status.changed <= $0 }) ?? true {
        emit(.modified(isOpen: false), status.type, at: path)
      }
    }
  }

  /// Finds what has changed below a root since a time, without the kernel's help.
  mutating func compare(_ root: BackendConfiguration.Root, since: FileTime) {
    let entry = makeEntry(at: root.path)
    guard roots[entry] != nil, !missingRoots.contains(entry) else { return }
    if root.coverage > .named {
      visitAtOnce(entry, for: .compare(since: since, .everything))
    } else if let folder = snapshot.parent(of: entry), table[folder]?.coverage == .named {
      visitAtOnce(folder, for: .compare(since: since, .everything))
    }
  }

  mutating func makeEntry(at path: Path) -> Entry {
    var entry = TreeSnapshot.root
    for component in path.components {
      entry = Array(component).withUnsafeBufferPointer { name in
        snapshot.child(name, of: entry) ?? snapshot.insert(name, .directory, in: entry)
      }
    }
    return entry
  }
}

#endif  // os(Linux)
