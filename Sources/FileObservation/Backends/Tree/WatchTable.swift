import PathFiltering
import SystemCalls

/// Which folder, and which file where files are watched, has which watch.
struct WatchTable {
  struct Folder {
    /// The watcher's number; nil while it is not watched.
    var watch: Int32?
    var coverage: Coverage
    /// The kernel has told of something that came or went in it.
    var hasNews = false
    /// The rules in force in it; nil where only certain names count.
    var stack: IgnoreStack?
    /// When it was first watched: what happened before was not told by the kernel.
    var watchedAt: FileTime
  }

  /// In no order; the last takes the place of one that is removed.
  private var folders: [(details: Folder, entry: TreeSnapshot.Entry)] = []
  /// Where in `folders` an entry is.
  private var places = NumberMap()
  /// The watches of files, and to which entry each watch belongs.
  private var files = NumberMap()
  private var owners = NumberMap()

  /// How many watches there are.
  var watchCount: Int { owners.count }

  subscript(entry: TreeSnapshot.Entry) -> Folder? {
    place(of: entry).map { folders[$0].details }
  }

  /// How much of the folder counts, without a look at the rest.
  func coverage(of entry: TreeSnapshot.Entry) -> Coverage? {
    place(of: entry).map { folders[$0].details.coverage }
  }

  /// The entry to which what a watch tells belongs; nil if the watch is none of ours any more.
  func owner(of watch: Int32) -> TreeSnapshot.Entry? {
    owners[UInt32(bitPattern: watch)].map(TreeSnapshot.Entry.init)
  }

  /// The watch of a file.
  func watch(ofFile entry: TreeSnapshot.Entry) -> Int32? {
    files[entry.number].map(Int32.init(bitPattern:))
  }

  /// All folders that are watched.
  var watchedFolders: [TreeSnapshot.Entry] {
    folders.lazy.filter { $0.details.watch != nil }.map(\.entry)
  }

  /// Notes a folder, or that more of it is wanted than was.
  mutating func add(_ entry: TreeSnapshot.Entry, coverage: Coverage, stack: IgnoreStack?) {
    guard let place = place(of: entry) else {
      places[entry.number] = UInt32(folders.count)
      let details = Folder(
        watch: nil, coverage: coverage, stack: stack, watchedAt: FileTime(nanoseconds: 0))
      folders.makeRoom()
      folders.append((details, entry))
      return
    }
    // What it has told so far of what was not wanted then, is not told again.
    let known = folders[place].details.coverage
    if coverage > known { folders[place].details.watchedAt = FileTime.latest() }
    folders[place].details.coverage = max(known, coverage)
    if let stack { folders[place].details.stack = stack }
  }

  mutating func setStack(_ stack: IgnoreStack, of entry: TreeSnapshot.Entry) {
    if let place = place(of: entry) { folders[place].details.stack = stack }
  }

  mutating func noteNews(in entry: TreeSnapshot.Entry) {
    if let place = place(of: entry) { folders[place].details.hasNews = true }
  }

  /// Gives the folder this watch, in place of the one it had, and takes it from the one that had it.
  mutating func setWatch(_ watch: Int32, of entry: TreeSnapshot.Entry, at time: FileTime) {
    let former = owner(of: watch).flatMap(place(of:))
    if let former { folders[former].details.watch = nil }
    guard let place = place(of: entry) else { return }
    if let outdated = folders[place].details.watch { disown(outdated) }
    owners[UInt32(bitPattern: watch)] = entry.number
    folders[place].details.watch = watch
    folders[place].details.watchedAt = time
  }

  mutating func setWatch(_ watch: Int32, ofFile entry: TreeSnapshot.Entry) {
    files[entry.number] = UInt32(bitPattern: watch)
    owners[UInt32(bitPattern: watch)] = entry.number
  }

  /// Takes the watch from what is watched still. The watch, to be given back.
  mutating func removeWatch(of entry: TreeSnapshot.Entry) -> Int32? {
    let place = place(of: entry)
    let watch = watch(ofFile: entry) ?? place.flatMap { folders[$0].details.watch }
    files[entry.number] = nil
    if let place { folders[place].details.watch = nil }
    if let watch { disown(watch) }
    return watch
  }

  /// Forgets the folder or file. Its watch, to be given back.
  mutating func remove(_ entry: TreeSnapshot.Entry) -> Int32? {
    let watch = removeWatch(of: entry)
    if let place = place(of: entry) {
      places[entry.number] = nil
      let last = folders.removeLast()
      if last.entry != entry {
        folders[place] = last
        places[last.entry.number] = UInt32(place)
      }
    }
    return watch
  }

  /// The kernel has taken the watch away.
  mutating func removeWatch(_ watch: Int32) {
    guard let owner = owner(of: watch) else { return }
    disown(watch)
    if let place = place(of: owner) { folders[place].details.watch = nil }
    files[owner.number] = nil
  }

  private mutating func disown(_ watch: Int32) {
    owners[UInt32(bitPattern: watch)] = nil
  }

  private func place(of entry: TreeSnapshot.Entry) -> Int? {
    places[entry.number].map { Int($0) }
  }
}
