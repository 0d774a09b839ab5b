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

  private var folders: [TreeSnapshot.Entry: Folder] = [:]
  private var files: [TreeSnapshot.Entry: Int32] = [:]
  private var owners: [Int32: TreeSnapshot.Entry] = [:]

  /// How many watches there are.
  var watchCount: Int { owners.count }

  subscript(entry: TreeSnapshot.Entry) -> Folder? {
    folders[entry]
  }

  /// The entry to which what a watch tells belongs; nil if the watch is none of ours any more.
  func owner(of watch: Int32) -> TreeSnapshot.Entry? {
    owners[watch]
  }

  /// The watch of a file.
  func watch(ofFile entry: TreeSnapshot.Entry) -> Int32? {
    files[entry]
  }

  /// All folders that are watched.
  var watchedFolders: [TreeSnapshot.Entry] {
    owners.values.filter { folders[$0] != nil }
  }

  /// Notes a folder, or that more of it is wanted than was.
  mutating func add(_ entry: TreeSnapshot.Entry, coverage: Coverage, stack: IgnoreStack?) {
    if let known = folders[entry] {
      // What it has told so far of what was not wanted then, is not told again.
      if coverage > known.coverage { folders[entry]?.watchedAt = FileTime.latest() }
      folders[entry]?.coverage = max(known.coverage, coverage)
      folders[entry]?.stack = stack ?? known.stack
    } else {
      folders[entry] = Folder(
        watch: nil, coverage: coverage, stack: stack, watchedAt: FileTime(nanoseconds: 0))
    }
  }

  mutating func setStack(_ stack: IgnoreStack, of entry: TreeSnapshot.Entry) {
    folders[entry]?.stack = stack
  }

  mutating func noteNews(in entry: TreeSnapshot.Entry) {
    folders[entry]?.hasNews = true
  }

  /// Gives the folder this watch, in place of the one it had, and takes it from the one that had it.
  mutating func setWatch(_ watch: Int32, of entry: TreeSnapshot.Entry, at time: FileTime) {
    if let outdated = folders[entry]?.watch { owners[outdated] = nil }
    if let former = owners[watch] { folders[former]?.watch = nil }
    owners[watch] = entry
    folders[entry]?.watch = watch
    folders[entry]?.watchedAt = time
  }

  mutating func setWatch(_ watch: Int32, ofFile entry: TreeSnapshot.Entry) {
    files[entry] = watch
    owners[watch] = entry
  }

  /// Takes the watch from what is watched still. The watch, to be given back.
  mutating func removeWatch(of entry: TreeSnapshot.Entry) -> Int32? {
    let watch = files.removeValue(forKey: entry) ?? folders[entry]?.watch
    folders[entry]?.watch = nil
    if let watch { owners[watch] = nil }
    return watch
  }

  /// Forgets the folder or file. Its watch, to be given back.
  mutating func remove(_ entry: TreeSnapshot.Entry) -> Int32? {
    let watch = removeWatch(of: entry)
    folders[entry] = nil
    return watch
  }

  /// The kernel has taken the watch away.
  mutating func removeWatch(_ watch: Int32) {
    guard let owner = owners.removeValue(forKey: watch) else { return }
    folders[owner]?.watch = nil
    files[owner] = nil
  }
}
