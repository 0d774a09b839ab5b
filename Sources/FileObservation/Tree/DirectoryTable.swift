import PathFiltering
import SystemCalls

/// The observed directories with their rules, and the watches of directories and files.
///
/// A watch belongs to the entry at whose path it was added, and to every other entry at whose path the
/// same directory or file is, as by a link or a bind mount. When the last of them disappears, or another
/// directory is found at its path, the watch is retired: the directory may have been renamed. If it
/// is found again under another path, the kernel returns the same watch, which is transferred to the
/// entry there. Otherwise it is removed from the source after the hints have been processed.
struct DirectoryTable {
  struct Directory {
    /// The watch descriptor; `nil` while the directory is not watched.
    var watch: Int32?
    var coverage: Coverage
    /// The ignore rules in force in the directory; `nil` if its coverage is `named`.
    var stack: IgnoreStack?
    /// The ignore files and markers that were listed last.
    var names: IgnoreFileNames = []
  }

  /// What is not known of a directory that could not be examined.
  struct Unexamined {
    /// Changes since this time have not been found.
    var since: FileTime
    /// Whether there is a hint when it can be examined: the permissions of a directory that is observed
    /// are missing.
    var isHinted: Bool
  }

  /// The index that stands for no directory.
  private static let none = UInt32.max
  /// The number of entries by which `indices` grows.
  private static let growth = 1 << 10

  /// Directories that are polled because they, or files in them, could not be watched.
  var unwatched: Set<TreeSnapshot.Entry> = []
  /// Directories that could not be read, or of which an entry could not be examined, as without the
  /// permission to search one of their ancestors.
  var unexamined: [TreeSnapshot.Entry: Unexamined] = [:]
  /// Watches without an entry.
  var retired: Set<Int32> = []
  /// Whether a watch was transferred since this was reset.
  var hasTransferred = false
  /// Other names of watched directories, by watch, where each directory is observed by one name.
  var otherNames: [Int32: Set<TreeSnapshot.Entry>] = [:]
  /// The entries that share a watch with its owner, by watch.
  private var sharers: [Int32: [TreeSnapshot.Entry]] = [:]
  /// In no particular order.
  private var directories: [(details: Directory, entry: TreeSnapshot.Entry)] = []
  /// From the number of an entry to its index in `directories`. An array, because directories are
  /// looked up several times for each entry of a tree.
  private var indices: [UInt32] = []
  /// From a file to its watch.
  private var files = NumberMap()
  /// From a watch to the entry of its directory or file.
  private var owners = NumberMap()

  var watchCount: Int { owners.count }

  // Inlined, as the next ones, because a call would retain every table.
  @inline(__always)
  subscript(entry: TreeSnapshot.Entry) -> Directory? {
    index(of: entry).map { directories[$0].details }
  }

  @inline(__always)
  func coverage(of entry: TreeSnapshot.Entry) -> Coverage? {
    index(of: entry).map { directories[$0].details.coverage }
  }

  /// The directory or file to which a watch belongs; `nil` after its removal. It may have `sharers`.
  @inline(__always)
  func owner(of watch: Int32) -> TreeSnapshot.Entry? {
    owners[UInt32(bitPattern: watch)].map(TreeSnapshot.Entry.init)
  }

  @inline(__always)
  func watch(ofFile entry: TreeSnapshot.Entry) -> Int32? {
    files[entry.number].map(Int32.init(bitPattern:))
  }

  var count: Int { directories.count }

  var entries: [TreeSnapshot.Entry] { directories.map(\.entry) }

  /// Adds a directory, or extends its coverage.
  mutating func add(_ entry: TreeSnapshot.Entry, coverage: Coverage, stack: IgnoreStack?) {
    guard let index = index(of: entry) else {
      // The watch of the file that was there is not that of the directory.
      if watch(ofFile: entry) != nil, let outdated = removeWatch(of: entry) {
        retired.insert(outdated)
      }
      setIndex(UInt32(directories.count), of: entry)
      directories.growIfNeeded()
      directories.append((Directory(watch: nil, coverage: coverage, stack: stack), entry))
      return
    }
    directories[index].details.coverage = max(directories[index].details.coverage, coverage)
    if let stack { directories[index].details.stack = stack }
  }

  mutating func setStack(_ stack: IgnoreStack, of entry: TreeSnapshot.Entry) {
    if let index = index(of: entry) { directories[index].details.stack = stack }
  }

  mutating func setNames(_ names: IgnoreFileNames, of entry: TreeSnapshot.Entry) {
    if let index = index(of: entry) { directories[index].details.names = names }
  }

  /// The entries that share a watch with its owner: the same directory or file, at other paths.
  @inline(__always)
  func sharers(of watch: Int32) -> [TreeSnapshot.Entry] {
    sharers.isEmpty ? [] : sharers[watch] ?? []
  }

  /// All entries to which a watch belongs.
  func owners(of watch: Int32) -> [TreeSnapshot.Entry] {
    owner(of: watch).map { [$0] + sharers(of: watch) } ?? []
  }

  /// Sets the watch of a directory. If the watch belonged to other directories, removes it there.
  /// Returns the outdated watch of this one, if any; the caller must remove it from the source.
  mutating func setWatch(_ watch: Int32, of entry: TreeSnapshot.Entry) -> Int32? {
    if owner(of: watch) != nil { removeWatch(watch) }
    guard let index = index(of: entry) else { return nil }
    let outdated = replaceWatch(of: entry, at: index, by: watch)
    owners[UInt32(bitPattern: watch)] = entry.number
    return outdated
  }

  /// Sets the watch of a directory, which is also that of the same directory at another path.
  /// Returns the outdated watch, as `setWatch` does.
  mutating func shareWatch(_ watch: Int32, with entry: TreeSnapshot.Entry) -> Int32? {
    guard let index = index(of: entry), !owners(of: watch).contains(entry) else { return nil }
    let outdated = replaceWatch(of: entry, at: index, by: watch)
    sharers[watch, default: []].append(entry)
    return outdated
  }

  /// Returns the former watch, unless it belongs to others as well, or has the number of the new one.
  private mutating func replaceWatch(
    of entry: TreeSnapshot.Entry, at index: Int, by watch: Int32
  ) -> Int32? {
    let former = directories[index].details.watch
    directories[index].details.watch = watch
    guard let former, former != watch, removeOwner(entry, of: former) else { return nil }
    return former
  }

  /// Sets the watch of a file, which may also be that of the same file at other paths.
  mutating func setWatch(_ watch: Int32, ofFile entry: TreeSnapshot.Entry) {
    files[entry.number] = UInt32(bitPattern: watch)
    if owner(of: watch) == nil {
      owners[UInt32(bitPattern: watch)] = entry.number
    } else if !owners(of: watch).contains(entry) {
      sharers[watch, default: []].append(entry)
    }
  }

  /// Removes the watch of a directory or file. Returns it unless it belongs to others as well; the
  /// caller must remove it from the source.
  mutating func removeWatch(of entry: TreeSnapshot.Entry) -> Int32? {
    let index = index(of: entry)
    let watch = watch(ofFile: entry) ?? index.flatMap { directories[$0].details.watch }
    files[entry.number] = nil
    if let index { directories[index].details.watch = nil }
    guard let watch, removeOwner(entry, of: watch) else { return nil }
    return watch
  }

  /// Removes a directory or file. Returns its watch, unless it belongs to others as well; the caller
  /// must remove it from the source.
  mutating func remove(_ entry: TreeSnapshot.Entry) -> Int32? {
    let watch = removeWatch(of: entry)
    if let index = index(of: entry) {
      setIndex(Self.none, of: entry)
      let last = directories.removeLast()
      if last.entry != entry {
        directories[index] = last
        setIndex(UInt32(index), of: last.entry)
      }
    }
    return watch
  }

  /// Removes a watch that is no longer in force.
  mutating func removeWatch(_ watch: Int32) {
    for owner in owners(of: watch) {
      if let index = index(of: owner) { directories[index].details.watch = nil }
      files[owner.number] = nil
    }
    owners[UInt32(bitPattern: watch)] = nil
    if !sharers.isEmpty { sharers[watch] = nil }
  }

  /// Removes one of the entries to which a watch belongs. Returns whether it was the only one.
  private mutating func removeOwner(_ entry: TreeSnapshot.Entry, of watch: Int32) -> Bool {
    let isOwner = owner(of: watch) == entry
    if sharers.isEmpty {
      if isOwner { owners[UInt32(bitPattern: watch)] = nil }
      return isOwner || owner(of: watch) == nil
    }
    var others = sharers(of: watch)
    if isOwner {
      owners[UInt32(bitPattern: watch)] = others.popLast()?.number
    } else {
      others.removeAll { $0 == entry }
    }
    sharers[watch] = others.isEmpty ? nil : others
    return owner(of: watch) == nil
  }

  @inline(__always)
  private func index(of entry: TreeSnapshot.Entry) -> Int? {
    let number = Int(entry.number)
    guard number < indices.count, indices[number] != Self.none else { return nil }
    return Int(indices[number])
  }

  private mutating func setIndex(_ index: UInt32, of entry: TreeSnapshot.Entry) {
    if entry.number >= indices.count {
      let missing = Int(entry.number) - indices.count + Self.growth
      indices.growIfNeeded(for: missing)
      indices += Array(repeating: Self.none, count: missing)
    }
    indices[Int(entry.number)] = index
  }
}
