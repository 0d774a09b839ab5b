import PathFiltering
import SystemCalls

// Ignore files decide what is watched, and may be edited while it is. The directory that holds one is filtered
// anew with all that is below it, once the other hints have been followed.
extension ObservedTree {
  /// The rules for a root, read afresh. The files outside of it that apply to it are watched too.
  mutating func rules(forRoot path: Path) -> IgnoreStack {
    let stack = readRules { filter, warn in filter.stack(forRoot: path, warn: warn) }
    for file in stack.outerFiles { watchRules(at: file) }
    return stack
  }

  /// Reads rules, and warns once of each file that cannot be read.
  mutating func readRules(
    _ read: (PathFilter, (SystemError) -> Void) -> IgnoreStack
  ) -> IgnoreStack {
    var failures: [SystemError] = []
    let stack = read(filter) { failures.append($0) }
    for failure in failures { warnings.add(unreadableRules: failure) }
    for file in stack.files { rules.files[file.path] = file }
    return stack
  }

  private mutating func watchRules(at path: Path) {
    guard let directory = path.parent,
      (try? FileStatus(of: directory, followsLinks: true).type) == .directory
    else { return }
    let entry = makeEntry(at: path)
    if snapshot.marks(of: entry).contains(.rules) { return }
    snapshot.mark(entry, .rules)
    snapshot.setType(.file, of: entry)
    // What leads there is not entered because of it.
    var step = snapshot.parent(of: entry)
    while let directory = step, directories[directory] == nil, roots[directory] == nil {
      snapshot.mark(directory, .passage)
      step = snapshot.parent(of: directory)
    }
    watchByName(parentOf: entry)
  }

  /// Compares a file of rules where no hint names it.
  mutating func lookAtRules(_ entry: Entry, in directory: Entry) {
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

  /// Takes note of the directory if a hint is about a file of rules, or about the beginning of a repository.
  mutating func noteIfRulesChanged(
    _ name: UnsafeBufferPointer<UInt8>, in directory: Entry, _ reasons: Hint.Reasons
  ) {
    let names = IgnoreFileNames.of(name)
    if names.isEmpty {
      guard directories.coverage(of: directory) == .named,
        let known = snapshot.child(name, of: directory),
        !snapshot.marks(of: known).isDisjoint(with: [.rules, .passage])
      else { return }
    }
    if reasons.isAboutName || (reasons.contains(.closed) && !names.contains(.git)) {
      rules.stale.insert(directory)
    }
  }

  /// Applies changed rules: directories that are ignored now give their watches back, others are watched
  /// and listed. What is there already is not reported.
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
        // Rules for everywhere: the user's own, or a repository's hidden ones.
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

  /// Finds what appeared since everything was compared. In a watched directory, what appears in the same clock
  /// tick has a hint of its own.
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
    visitAtOnce(directory, for: refilterMode)
  }

  /// Warns of a root of which nothing is left to watch, by its listing.
  mutating func warnIfAllIsIgnored(
    _ listing: DirectoryListing, _ path: Path, _ stack: IgnoreStack?
  ) {
    guard let stack, !listing.isEmpty else { return }
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
