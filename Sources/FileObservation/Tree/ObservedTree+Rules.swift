import PathFiltering
import SystemCalls

// Ignore files may change while their directories are observed. After all other hints, the
// directory of a changed ignore file is filtered again with its descendants.
extension ObservedTree {
  /// Reads the rules for a root. Watches the ignore files outside of it that apply to it.
  mutating func rules(forRoot path: Path) -> IgnoreStack {
    let stack = readRules { filter, warn in filter.stack(forRoot: path, warn: warn) }
    for file in stack.outerFiles { watchRules(at: file) }
    return stack
  }

  /// Reads rules, and adds a warning for each unreadable file.
  mutating func readRules(
    _ read: (PathFilter, (SystemError) -> Void) -> IgnoreStack
  ) -> IgnoreStack {
    var failures: [SystemError] = []
    let stack = read(filter) { failures.append($0) }
    for failure in failures { warnings.add(unreadableIgnoreFile: failure) }
    for file in stack.files { rules.files[file.path] = file }
    return stack
  }

  private mutating func watchRules(at path: Path) {
    guard let directory = path.parent,
      (try? FileStatus(of: directory, followsLinks: true).type) == .directory
    else { return }
    let entry = makeEntry(at: path)
    if snapshot.marks(of: entry).contains(.ignoreFile) { return }
    snapshot.mark(entry, .ignoreFile)
    snapshot.setType(.file, of: entry)
    // Its ancestors are not entered because of it.
    var step = snapshot.parent(of: entry)
    while let directory = step, directories[directory] == nil, roots[directory] == nil {
      snapshot.mark(directory, .ancestorOfIgnoreFile)
      step = snapshot.parent(of: directory)
    }
    watchByName(parentOf: entry)
  }

  /// Compares an ignore file for which there was no hint.
  mutating func compareIgnoreFile(_ entry: Entry, in directory: Entry) {
    let path = entryPath(of: entry)
    let fingerprint = (try? FileStatus(of: path.path)).map { Fingerprint($0) }
    if fingerprint == snapshot.fingerprint(of: entry) { return }
    // Without a fingerprint it has not been compared yet.
    if snapshot.fingerprint(of: entry) != nil || comparedUntil > start {
      rules.stale.insert(directory)
    }
    snapshot.setFingerprint(fingerprint, of: entry)
    watchFileIfNeeded(entry, at: path)
  }

  /// Marks the rules of a directory as stale if a hint is about an ignore file or about `.git`.
  mutating func markStaleRules(
    _ name: UnsafeBufferPointer<UInt8>, in directory: Entry, _ reasons: Hint.Reasons
  ) {
    let names = IgnoreFileNames.of(name)
    if names.isEmpty {
      guard directories.coverage(of: directory) == .named,
        let known = snapshot.child(name, of: directory),
        !snapshot.marks(of: known).isDisjoint(with: [.ignoreFile, .ancestorOfIgnoreFile])
      else { return }
    }
    if reasons.isAboutName || (reasons.contains(.closed) && !names.contains(.git)) {
      rules.stale.insert(directory)
    }
  }

  /// Applies changed rules: stops watching directories that are ignored now, and scans those that
  /// are no longer ignored. Their existing entries are not reported.
  mutating func refreshRules() {
    if rules.stale.isEmpty { return }
    let stale = rules.stale
    rules.stale = []
    for directory in stale {
      guard let details = directories[directory] else { continue }
      let below = roots.filter {
        (roots[$0] ?? .named) > .named && snapshot.isWithin($0, directory)
      }
      if details.coverage == .named && below.isEmpty {
        // These rules apply to every root: the user's own, or those in a repository's `.git`.
        for root in roots.map({ $0 }) { refreshRoot(root) }
        continue
      }
      for root in below { refreshRoot(root) }
      if roots[directory] == nil, let parent = snapshot.parent(of: directory),
        let stack = directories[parent]?.stack
      {
        refilter(directory, by: stack)
      }
    }
  }

  /// Reports entries that appeared after the last comparison. In a watched directory, those of the
  /// same clock tick have hints of their own.
  var refilterMode: ScanMode {
    let mode = ScanMode.refilter(since: comparedUntil)
    return source?.namesEntries == true ? mode : mode.forNewDirectory
  }

  private mutating func refreshRoot(_ root: Entry) {
    guard let coverage = roots[root], coverage > .named, !isMissing(root) else {
      return
    }
    refilter(root, by: rules(forRoot: snapshot.path(of: root)))
  }

  private mutating func refilter(_ directory: Entry, by stack: IgnoreStack) {
    directories.setStack(stack, of: directory)
    scanNow(directory, for: refilterMode)
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
    if isAllIgnored, let example { warnings.add(.everythingIgnored(in: path, by: example)) }
  }
}
