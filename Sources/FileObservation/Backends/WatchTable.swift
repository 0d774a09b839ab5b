#if os(Linux)

import PathFiltering
import SystemCalls

/// Which folder has which inotify watch.
struct WatchTable {
  struct Folder {
    /// The kernel's number; nil while it is not watched.
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
  private var owners: [Int32: TreeSnapshot.Entry] = [:]

  /// How many watches the kernel keeps for us.
  var watchCount: Int { owners.count }

  subscript(entry: TreeSnapshot.Entry) -> Folder? {
    folders[entry]
  }

  /// The folder to which an event of this watch belongs; nil if the watch is none of ours any more.
  func owner(of watch: Int32) -> TreeSnapshot.Entry? {
    owners[watch]
  }

  /// All folders that are watched.
  var watchedFolders: [TreeSnapshot.Entry] {
    Array(owners.values)
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

  /// Forgets the folder. Its watch, for the kernel to be given back.
  mutating func remove(_ entry: TreeSnapshot.Entry) -> Int32? {
    guard let folder = folders.removeValue(forKey: entry) else { return nil }
    if let watch = folder.watch { owners[watch] = nil }
    return folder.watch
  }

  /// The kernel has taken the watch away.
  mutating func removeWatch(_ watch: Int32) {
    if let owner = owners.removeValue(forKey: watch) { folders[owner]?.watch = nil }
  }
}

#endif  // os(Linux)
