import SystemCalls

/// Files that had changed so shortly before they were looked at that one more write might bear the same
/// time: their times do not prove that nothing has happened since, so their content is remembered.
package struct RacilyCleanFiles {
  /// The largest that is read, in bytes. What is larger is taken as written to.
  package static let largest = 1 << 20

  /// What was in them; nil if that could not be read.
  private var contents: [Path: ContentDigest?] = [:]

  package init() {}

  package var count: Int { contents.count }

  /// Takes note of a look at a file. True if its content is another than at the last look though that
  /// might not show in its times.
  ///
  /// - Parameter read: Gives the file's content; is only called where it matters.
  package mutating func look(
    at path: Path, _ status: FileStatus, now: FileTime, read: () -> ContentDigest?
  ) -> Bool {
    let known = contents.removeValue(forKey: path)
    // Some file systems say times of their own, as far away as they like.
    let isRacy = now.nanoseconds &- status.changed.nanoseconds < status.timeResolution
    guard known != nil || isRacy else { return false }
    let content = read()
    if isRacy { contents[path] = .some(content) }
    guard let known else { return false }
    return content == nil || content != known
  }

  /// Forgets a file that is gone.
  package mutating func forget(_ path: Path) {
    if !contents.isEmpty { contents[path] = nil }
  }
}

extension FileStatus {
  /// How far apart two changes must be, in nanoseconds, to bear different times for certain: some ticks
  /// of the kernel's clock, or, where only whole seconds are kept, the two of the coarsest.
  fileprivate var timeResolution: Int64 {
    let second: Int64 = 1_000_000_000
    let isCoarse = modified.nanoseconds % second == 0 && changed.nanoseconds % second == 0
    return isCoarse ? 2 * second : 20_000_000
  }
}
