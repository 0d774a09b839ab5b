import SystemCalls

/// The state of watches, apart from their owners in `DirectoryTable`.
///
/// A watch belongs to the entry at whose path it was added. When that entry disappears, or another
/// directory is found at its path, the watch is retired: the directory may have been renamed. If it
/// is found again under another path, the kernel returns the same watch, which is transferred to the
/// entry there. Otherwise it is removed from the source after the hints have been processed.
struct Watches {
  /// Directories that are polled because they, or files in them, could not be watched.
  var unwatched: Set<TreeSnapshot.Entry> = []
  /// Directories that could not be read, or of which an entry could not be examined, as without the
  /// permission to search one of their ancestors.
  var unexamined: Set<TreeSnapshot.Entry> = []
  /// Watches without an entry.
  var retired: Set<Int32> = []
  /// Whether a watch was transferred since this was reset.
  var hasTransferred = false
  /// Other paths of watched directories, such as bind mounts, by watch.
  var aliases: [Int32: Set<TreeSnapshot.Entry>] = [:]
}
