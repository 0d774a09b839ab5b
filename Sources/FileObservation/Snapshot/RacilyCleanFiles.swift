import Support
import SystemCalls

/// Files that changed so shortly before a scan that one more write may leave the same timestamps.
/// Their timestamps do not prove that they are unchanged, so their content is remembered.
struct RacilyCleanFiles {
  /// The largest file that is read, in bytes. A larger one counts as modified.
  static let largest = 1 << 20

  /// The digests of their contents; `nil` for one that could not be read.
  private(set) var contents: [Path: ContentDigest?] = [:]

  /// Records the state of a file that is scanned. Returns whether its content has changed since the
  /// last scan in a way that its timestamps may not show.
  ///
  /// - Parameter read: Reads the file's content; only called where timestamps prove nothing.
  mutating func isRewritten(
    at path: Path, _ status: FileStatus, now: FileTime, read: () -> ContentDigest?
  ) -> Bool {
    let known = contents.removeValue(forKey: path)
    let isRacy = status.isRacy(now)
    guard known != nil || isRacy else { return false }
    let content = read()
    if isRacy { contents[path] = .some(content) }
    guard let known else { return false }
    // What cannot be read counts once, and not as long as its time is ahead of the clock.
    return content.map { $0 != known } ?? !isRacy
  }

  /// Forgets a removed file.
  @discardableResult
  mutating func forget(_ path: Path) -> Bool {
    !contents.isEmpty && contents.removeValue(forKey: path) != nil
  }
}

extension FileStatus {
  /// Whether another change might leave the same timestamps.
  func isRacy(_ now: FileTime) -> Bool { isRacy(now, since: changed) }

  /// Whether another change might leave this one of the timestamps.
  func isRacy(_ now: FileTime, since time: FileTime) -> Bool {
    // The clock of a network file system may be any time away from this one.
    now.nanoseconds &- time.nanoseconds < timeResolution
  }

  /// The time between two changes, in nanoseconds, after which they certainly have different
  /// timestamps: a clock tick of the kernel, or two seconds on file systems that store whole
  /// seconds.
  private var timeResolution: Int64 {
    let second: Int64 = 1_000_000_000
    let isCoarse = modified.nanoseconds % second == 0 && changed.nanoseconds % second == 0
    return isCoarse ? 2 * second : FileTime.granularity
  }
}
