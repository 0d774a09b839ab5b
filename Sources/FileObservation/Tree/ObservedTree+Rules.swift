import PathFiltering
import SystemCalls

// Ignore files may change while their directories are observed. After all other hints, the
// directory of a changed ignore file is filtered again with its descendants, in slices. Each of
// them keeps its former rules until it is filtered itself.
extension ObservedTree {
  /// Reads the rules for a root. Watches the ignore files outside of it that apply to it.
  mutating func rules(forRoot path: Path) -> IgnoreStack {
    let filter = filter
    let stack = readRules { filter.stack(forRoot: path, warn: $0) }
    for file in stack.outerFiles { watchRules(at: file) }
    return stack
  }

  /// Watches what the rules of a directory are read from beside the files in it: those of another repository, and the
  /// targets of links. After its entries were compared, which may be among them.
  ///
  /// - Parameter names: The ignore files and markers in it.
  mutating func watchOtherRules(
    _ stack: IgnoreStack?, in directory: Path, _ names: IgnoreFileNames
  ) {
    guard let stack, !names.isEmpty else { return }
    if names.contains(.git) {
      for file in stack.outerFiles { watchRules(at: file) }
    }
    // Git does not follow links from others.
    for name in names.intersection([.ignore, .watchrunignore]).texts {
      watchTarget(ofRules: directory.appending(name))
    }
  }

  /// Reads rules, and adds a warning for each unreadable file.
  mutating func readRules(_ read: ((SystemError) -> Void) -> IgnoreStack) -> IgnoreStack {
    var failures: [SystemError] = []
    let stack = read { failures.append($0) }
    for failure in failures { unreported.add(unreadable: .unreadableIgnoreFile(failure)) }
    if rules.filesOfFirstScan != nil {
      for file in stack.files { rules.filesOfFirstScan?[file.path] = file }
    }
    return stack
  }

  /// Marks the rules of a directory as stale if a hint is about an ignore file or a marker.
  mutating func markStaleRules(
    _ name: UnsafeBufferPointer<UInt8>, in directory: Entry, _ reasons: Hint.Reasons
  ) {
    let names = IgnoreFileNames.of(name)
    // One that could not be read may be readable now.
    let mayBeOthers = !reasons.isDisjoint(with: [.closed, .attributes])
    guard reasons.isAboutName || mayBeOthers && names.isDisjoint(with: .markers) else { return }
    if !names.isEmpty { rules.stale.insert(directory) }
    if let known = snapshot.child(name, of: directory), rules.files.contains(known) {
      rules.stale.formUnion(roots)
    }
  }

  /// Makes the directories pending in which rules have changed.
  mutating func refreshRules() {
    if rules.stale.isEmpty { return }
    let stale = rules.stale
    rules.stale = []
    for directory in stale where directories[directory] != nil {
      let below = roots.filter { roots.isDirectory($0) && snapshot.isWithin($0, directory) }
      for root in below where !isMissing(root) {
        refilterLater(root, by: rules(forRoot: snapshot.path(of: root)))
      }
      if roots[directory] == nil, let parent = snapshot.parent(of: directory),
        let stack = directories[parent]?.stack
      {
        refilterLater(directory, by: stack)
      }
    }
  }

  /// Applies changed rules to pending directories until `isOver`: stops watching those that are
  /// ignored now, and scans those that are no longer ignored. Of their entries, those that have just
  /// changed are reported. Returns whether directories are left.
  mutating func refilter(until isOver: () -> Bool = { false }) -> Bool {
    while let next = rules.nextPending() {
      scanNow(next, for: refilterMode(of: next))
      if isOver() { break }
    }
    if !rules.isPending {
      if rules.pendingSince != nil { roots.links.refresh(within: "/") }
      rules.pendingSince = nil
    }
    return rules.isPending
  }

  mutating func refilterLater(_ directory: Entry, by stack: IgnoreStack) {
    rules.makePending(
      directory, stack, since: walk.comparedUntil, isLink: snapshot.type(of: directory) == .symlink)
  }

  /// Reports entries that appeared or changed after the last comparison. In a watched directory,
  /// those of the same clock tick have hints of their own.
  func refilterMode(of directory: Entry) -> Occasion {
    let mode = Occasion.refilter(since: rules.pendingSince ?? walk.comparedUntil)
    return isHinted(directory) ? mode : mode.forNewDirectory
  }

  /// Warns if all entries of a root are ignored.
  mutating func warnIfAllIsIgnored(
    _ listing: DirectoryListing, _ path: Path, _ stack: IgnoreStack?
  ) {
    guard let stack, listing.count > 0 else { return }
    var example: FilterDecision.Rule?
    var isAllIgnored = true
    listing.forEach { item in
      guard isAllIgnored else { return }
      let (entry, isDirectory) = (path.appending(item.name), item.type == .directory)
      guard stack.ignores(entry, isDirectory: isDirectory) == true,
        let rule = filter.decision(for: entry, isDirectory: isDirectory, below: path).rule
      else { return isAllIgnored = false }
      if rule.source != .builtIn { example = example ?? rule }
    }
    if isAllIgnored, let example {
      unreported.warnings.append(.everythingIgnored(in: path, by: example))
    }
  }
}

extension DirectoryListing {
  /// The names that affect which entries of the directory are ignored.
  var ignoreFiles: IgnoreFileNames {
    if firstBytes.isDisjoint(with: IgnoreFileNames.firstBytes) { return [] }
    var names: IgnoreFileNames = []
    forEach { names.formUnion(IgnoreFileNames.of($0.name)) }
    return names
  }
}
