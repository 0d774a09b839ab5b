import SystemCalls

/// What is known about watches beside which entry has which.
struct Watches {
  /// Directories that are polled, because they could not be watched, or files in them.
  var unwatched: Set<TreeSnapshot.Entry> = []
  /// Watches of directories that are gone from their paths, and may be found again by a rename.
  var retired: Set<Int32> = []
  /// Whether the watch of a renamed directory was passed on to its new entry since this was reset.
  var hasPassedOn = false
  /// Further names of watched directories, such as bind mounts, by the watch.
  var aliases: [Int32: Set<TreeSnapshot.Entry>] = [:]
  var hasReportedLimit = false
}
