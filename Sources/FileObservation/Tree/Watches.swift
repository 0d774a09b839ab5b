import SystemCalls

/// The state of watches, apart from their owners in `DirectoryTable`.
struct Watches {
  /// Directories that are polled because they, or files in them, could not be watched.
  var unwatched: Set<TreeSnapshot.Entry> = []
  /// Watches of directories that have disappeared, and may have been renamed. A renamed directory
  /// keeps its watch, which is transferred to its new entry.
  var retired: Set<Int32> = []
  /// Whether a watch was transferred since this was reset.
  var hasTransferred = false
  /// Other paths of watched directories, such as bind mounts, by watch.
  var aliases: [Int32: Set<TreeSnapshot.Entry>] = [:]
}
