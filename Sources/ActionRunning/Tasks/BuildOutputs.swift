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

  let directories: [Path]

  /// Gives the outputs that are not older than this time one just before it. Returns whether that was done for all.
  func outdate(before time: FileTime, where isOutput: (Path) -> Bool) -> Bool {
    let earlier = time.advanced(by: .nanoseconds(-1))
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
          status.type == .file, status.modified >= time
        else { return }
        let file = path.appending(entry.name)
        if isOutput(file) { isComplete = setTimes(earlier, of: file) && isComplete }
      }
    }
    return isComplete
  }
}
