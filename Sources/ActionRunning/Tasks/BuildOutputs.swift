import SystemCalls

/// What a build has written, of which some is not older than a file that was saved meanwhile.
///
/// The build may have read that file before, and a program that compares times would take the output for up to date
/// from then on. So the output is given a time before that of the save, as if it had been written just then: it is
/// made again if it depends on the file, and stays as it is otherwise.
struct BuildOutputs {
  /// With more files, it is not known whether all outputs were found.
  private static let mostFiles = 1_000_000
  /// The directories without outputs.
  private static let others = [".git", ".hg", ".svn", ".jj", "node_modules"].map(\.utf8)

  /// What was written in a time may be without what was saved.
  struct Doubt: Hashable {
    let since: FileTime
    var until: FileTime?
    let saved: FileTime
  }

  let directories: [Path]

  /// Gives the outputs of which there are doubts a time just before that of the save. Returns whether that was done for
  /// all.
  func outdate(_ doubts: [Doubt], where isOutput: (Path) -> Bool) -> Bool {
    var (pending, fileCount, isComplete) = (directories, 0, true)
    var listing = DirectoryListing()
    while let path = pending.popLast() {
      guard let opened = try? Descriptor.openDirectory(path) else { continue }
      listing.removeAll()
      guard (try? listing.read(opened)) != nil else { continue }
      fileCount += listing.count
      if fileCount > Self.mostFiles { return false }
      listing.forEach { entry in
        if entry.type == .symlink || Self.others.contains(where: entry.name.elementsEqual) {
          return
        }
        if entry.type == .directory { return pending.append(path.appending(entry.name)) }
        guard let status = try? FileStatus(ofListed: entry.name, in: opened),
          status.type == .file,
          let saved = doubts.filter({ doubt in
            doubt.since <= status.modified && status.modified <= doubt.until ?? status.modified
          }).map(\.saved).min()
        else { return }
        let file = path.appending(entry.name)
        let earlier = saved.advanced(by: .nanoseconds(-1))
        if isOutput(file) { isComplete = setTimes(earlier, of: file) && isComplete }
      }
    }
    return isComplete
  }
}
