import PathFiltering
import SystemCalls

// Ignore files decide what is watched, and may be edited while it is. The folder that holds one is
// judged anew with all that is below it, when what else has happened has been seen to.
extension ObservedTree {
  /// The rules for a root, read afresh. The files outside of it that bear on it are watched too.
  mutating func rules(forRoot path: Path) -> IgnoreStack {
    let stack = readRules { filter, warn in filter.stack(forRoot: path, warn: warn) }
    for file in stack.outerFiles { watchRules(at: file) }
    return stack
  }

  /// Reads rules; of files that cannot be read, each is told of once.
  mutating func readRules(
    _ read: (PathFilter, (SystemError) -> Void) -> IgnoreStack
  ) -> IgnoreStack {
    var failures: [SystemError] = []
    let stack = read(filter) { failures.append($0) }
    for failure in failures {
      guard let path = failure.path, unreadableRules.insert(path).inserted else { continue }
      warn(.unreadableRules(failure))
    }
    for file in stack.files { ruleFiles[file.path] = file }
    return stack
  }

  private mutating func watchRules(at path: Path) {
    guard let folder = path.parent,
      (try? FileStatus(of: folder, followsLinks: true).type) == .directory
    else { return }
    let entry = makeEntry(at: path)
    if snapshot.marks(of: entry).contains(.rules) { return }
    snapshot.mark(entry, .rules)
    snapshot.setType(.file, of: entry)
    // What leads there is not entered because of it.
    var step = snapshot.parent(of: entry)
    while let folder = step, table[folder] == nil, roots[folder] == nil {
      snapshot.mark(folder, .passage)
      step = snapshot.parent(of: folder)
    }
    watchByName(parentOf: entry)
  }

  /// Remembers the folder if what has happened to an entry in it is about a file of rules, or about a
  /// repository's beginning.
  mutating func noteIfRulesChanged(
    _ name: UnsafeBufferPointer<UInt8>, in folder: Entry, _ kind: RawEvent.Kind
  ) {
    let names = IgnoreFileNames.of(name)
    if names.isEmpty {
      guard table[folder]?.coverage == .named, let known = snapshot.child(name, of: folder),
        !snapshot.marks(of: known).isDisjoint(with: [.rules, .passage])
      else { return }
    }
    switch kind {
    case .created, .removed, .movedFrom, .movedTo: staleRules.insert(folder)
    case .modified(isOpen: false) where !names.contains(.git): staleRules.insert(folder)
    case .modified, .metadata: break
    }
  }

  /// Judges anew what the changed rules bear on: folders that have become ignored give their watches
  /// back, others are watched and listed. That is no change to tell of.
  mutating func refreshRules() {
    if staleRules.isEmpty { return }
    let stale = staleRules
    staleRules = []
    defer { formerStacks = [:] }
    for folder in stale {
      guard let details = table[folder] else { continue }
      let below = roots.filter { $0.value > .named && snapshot.isWithin($0.key, folder) }
      if details.coverage == .named && below.isEmpty {
        // Rules for everywhere: the user's own, or a repository's hidden ones.
        for root in roots.keys { refreshRoot(root) }
        continue
      }
      for root in below.keys { refreshRoot(root) }
      if roots[folder] == nil, let parent = snapshot.parent(of: folder),
        let stack = table[parent]?.stack
      {
        judge(folder, by: stack)
      }
    }
  }

  private mutating func refreshRoot(_ root: Entry) {
    guard let coverage = roots[root], coverage > .named, !missingRoots.contains(root) else {
      return
    }
    judge(root, by: rules(forRoot: snapshot.path(of: root)))
  }

  private mutating func judge(_ folder: Entry, by stack: IgnoreStack) {
    formerStacks[folder] = table[folder]?.stack
    table.setStack(stack, of: folder)
    visitAtOnce(folder, for: .judge)
  }

  /// Of a root whose listing has just been read: says so if nothing of it is left to watch.
  mutating func warnIfAllIsIgnored(_ listing: FolderListing, _ path: Path, _ stack: IgnoreStack?) {
    guard let stack, !listing.isEmpty else { return }
    var example: FilterDecision.Rule?
    var isAllIgnored = true
    listing.forEach { name, type in
      guard isAllIgnored else { return }
      let (entry, isDirectory) = (path.appending(name), type == .directory)
      guard stack.ignores(entry, isDirectory: isDirectory) == true,
        let rule = filter.decision(for: entry, isDirectory: isDirectory, below: path).rule
      else { return isAllIgnored = false }
      if rule.source != .builtIn { example = example ?? rule }
    }
    if isAllIgnored, let example { warn(.everythingIgnored(in: path, by: example)) }
  }
}
