import FileObservation
import PathFiltering
import SystemCalls

extension FileSetState {
  private static let withoutOutputs = [".git", ".hg", ".svn", ".jj"].map(\.utf8)

  /// The state of all that a task declares to write, also where it is ignored; incomplete if more entries are read.
  init(of writes: DeclaredWrites, watched: [WatchedPath], mostEntries: Int) {
    self.init()
    let now = FileTime.latest()
    var pending = watched.map(\.path).filter { !writes.isConfined && !$0.isWithin(writes.base) }
    pending.append(writes.base)
    var (listing, entryCount) = (DirectoryListing(), 0)
    while let directory = pending.popLast() {
      do throws(SystemError) {
        let opened = try Descriptor.openDirectory(directory)
        listing.removeAll()
        try listing.read(opened)
      } catch {
        if !error.isNotFound && error.code != ENOTDIR { isIncomplete = true }
        continue
      }
      entryCount += listing.count
      if entryCount > mostEntries {
        isIncomplete = true
        return
      }
      listing.forEach { entry in
        let path = directory.appending(entry.name)
        let isDirectory = entry.type == .directory
        if writes.contains(path, isDirectory: isDirectory, watched: watched) {
          add(path, now)
          // What it leads to is not entered.
          if entry.type == .symlink,
            (try? FileStatus(of: path, followsLinks: true))?.type == .directory
          {
            isIncomplete = true
          }
        }
        if isDirectory, !Self.withoutOutputs.contains(where: entry.name.elementsEqual),
          writes.mayConcernEntries(of: path)
        {
          pending.append(path)
        }
      }
    }
  }
}

extension DeclaredWrites {
  /// Whether a pattern may match an entry of the directory: it matches names anywhere, or begins with the names of the
  /// directory, or the directory with the names with which it begins.
  fileprivate func mayConcernEntries(of directory: Path) -> Bool {
    guard let names = directory.relative(to: base)?.components else { return true }
    return patterns.contains { pattern in
      if !pattern.isAnchored { return true }
      let start = Path(bytes: pattern.text).components.prefix { name in
        !name.contains { "*?[\\".utf8.contains($0) }
      }
      return pattern.isNegated || zip(start, names).allSatisfy { $0.elementsEqual($1) }
    }
  }
}
