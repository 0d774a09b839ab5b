import PathFiltering
import SystemCalls

/// The directories that are observed, and which of them, and which files, have which watch.
struct DirectoryTable {
  struct Directory {
    /// The source's number; nil while it is not watched.
    var watch: Int32?
    var coverage: Coverage
    /// The ignore rules in force in it; nil where only certain names count.
    var stack: IgnoreStack?
  }

  /// In no order; the last takes the place of one that is removed.
  private var directories: [(details: Directory, entry: TreeSnapshot.Entry)] = []
  /// Where in `directories` an entry is.
  private var places = NumberMap()
  /// The watches of files, and to which entry each watch belongs.
  private var files = NumberMap()
  private var owners = NumberMap()

  /// How many watches there are.
  var watchCount: Int { owners.count }

  subscript(entry: TreeSnapshot.Entry) -> Directory? {
    place(of: entry).map { directories[$0].details }
  }

  /// How much of a directory counts.
  func coverage(of entry: TreeSnapshot.Entry) -> Coverage? {
    place(of: entry).map { directories[$0].details.coverage }
  }

  /// The directory or file that a watch belongs to; nil once the watch was given back.
  func owner(of watch: Int32) -> TreeSnapshot.Entry? {
    owners[UInt32(bitPattern: watch)].map(TreeSnapshot.Entry.init)
  }

  /// The watch of a file.
  func watch(ofFile entry: TreeSnapshot.Entry) -> Int32? {
    files[entry.number].map(Int32.init(bitPattern:))
  }

  var count: Int { directories.count }

  var entries: [TreeSnapshot.Entry] { directories.map(\.entry) }

  /// Adds a directory, or extends what of it counts.
  mutating func add(_ entry: TreeSnapshot.Entry, coverage: Coverage, stack: IgnoreStack?) {
    guard let place = place(of: entry) else {
      places[entry.number] = UInt32(directories.count)
      directories.makeRoom()
      directories.append((Directory(watch: nil, coverage: coverage, stack: stack), entry))
      return
    }
    directories[place].details.coverage = max(directories[place].details.coverage, coverage)
    if let stack { directories[place].details.stack = stack }
  }

  mutating func setStack(_ stack: IgnoreStack, of entry: TreeSnapshot.Entry) {
    if let place = place(of: entry) { directories[place].details.stack = stack }
  }

  /// Gives the directory this watch, in place of the one it had, and takes it from the one that had it.
  mutating func setWatch(_ watch: Int32, of entry: TreeSnapshot.Entry) {
    let former = owner(of: watch).flatMap(place(of:))
    if let former { directories[former].details.watch = nil }
    guard let place = place(of: entry) else { return }
    if let outdated = directories[place].details.watch { disown(outdated) }
    owners[UInt32(bitPattern: watch)] = entry.number
    directories[place].details.watch = watch
  }

  mutating func setWatch(_ watch: Int32, ofFile entry: TreeSnapshot.Entry) {
    files[entry.number] = UInt32(bitPattern: watch)
    owners[UInt32(bitPattern: watch)] = entry.number
  }

  /// Takes the watch from a directory or file. Returns it, to be given back.
  mutating func removeWatch(of entry: TreeSnapshot.Entry) -> Int32? {
    let place = place(of: entry)
    let watch = watch(ofFile: entry) ?? place.flatMap { directories[$0].details.watch }
    files[entry.number] = nil
    if let place { directories[place].details.watch = nil }
    if let watch { disown(watch) }
    return watch
  }

  /// Removes the directory or file. Returns its watch, to be given back.
  mutating func remove(_ entry: TreeSnapshot.Entry) -> Int32? {
    let watch = removeWatch(of: entry)
    if let place = place(of: entry) {
      places[entry.number] = nil
      let last = directories.removeLast()
      if last.entry != entry {
        directories[place] = last
        places[last.entry.number] = UInt32(place)
      }
    }
    return watch
  }

  /// Removes a watch that is no longer in force.
  mutating func removeWatch(_ watch: Int32) {
    guard let owner = owner(of: watch) else { return }
    disown(watch)
    if let place = place(of: owner) { directories[place].details.watch = nil }
    files[owner.number] = nil
  }

  private mutating func disown(_ watch: Int32) {
    owners[UInt32(bitPattern: watch)] = nil
  }

  private func place(of entry: TreeSnapshot.Entry) -> Int? {
    places[entry.number].map { Int($0) }
  }
}
