import PathFiltering
import SystemCalls

/// The observed directories with their rules, and the watches of directories and files.
///
/// A watch belongs to the entry at whose path it was added. When that entry disappears, or another
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
  }

  /// The index that stands for no directory.
  private static let none = UInt32.max
  /// The number of entries by which `indices` grows.
  private static let growth = 1 << 10

  /// Directories that are polled because they, or files in them, could not be watched.
  var unwatched: Set<TreeSnapshot.Entry> = []
  /// Directories that could not be read, or of which an entry could not be examined, as without the
  /// permission to search one of their ancestors.
  var unexamined: Set<TreeSnapshot.Entry> = []
  /// Watches without an entry.
  var retired: Set<Int32> = []
  /// Whether a watch was transferred since this was reset.
  var hasTransferred = false
  /// Other paths of watched directories, such as bind mounts, by watch.
  var aliases: [Int32: Set<TreeSnapshot.Entry>] = [:]
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

  /// The directory or file to which a watch belongs; `nil` after its removal.
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

  /// Sets the watch of a directory. If the watch belonged to another directory, removes it there.
  /// Returns the outdated watch of this one, if any; the caller must remove it from the source.
  mutating func setWatch(_ watch: Int32, of entry: TreeSnapshot.Entry) -> Int32? {
    let former = owner(of: watch).flatMap(index(of:))
    if let former { directories[former].details.watch = nil }
    guard let index = index(of: entry) else { return nil }
    let outdated = directories[index].details.watch
    if let outdated { removeOwner(of: outdated) }
    owners[UInt32(bitPattern: watch)] = entry.number
    directories[index].details.watch = watch
    return outdated
  }

  mutating func setWatch(_ watch: Int32, ofFile entry: TreeSnapshot.Entry) {
    files[entry.number] = UInt32(bitPattern: watch)
    owners[UInt32(bitPattern: watch)] = entry.number
  }

  /// Removes the watch of a directory or file. Returns it; the caller must remove it from the
  /// source.
  mutating func removeWatch(of entry: TreeSnapshot.Entry) -> Int32? {
    let index = index(of: entry)
    let watch = watch(ofFile: entry) ?? index.flatMap { directories[$0].details.watch }
    files[entry.number] = nil
    if let index { directories[index].details.watch = nil }
    if let watch { removeOwner(of: watch) }
    return watch
  }

  /// Removes a directory or file. Returns its watch; the caller must remove it from the source.
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
    guard let owner = owner(of: watch) else { return }
    removeOwner(of: watch)
    if let index = index(of: owner) { directories[index].details.watch = nil }
    files[owner.number] = nil
  }

  private mutating func removeOwner(of watch: Int32) {
    owners[UInt32(bitPattern: watch)] = nil
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
