import PathFiltering
import SystemCalls

/// The ignore files that were read, and the directories in which they have changed.
struct IgnoreRules {
  var files: [Path: IgnoreFile] = [:]
  /// Directories with a changed ignore file. They and their descendants must be filtered again.
  var stale: Set<TreeSnapshot.Entry> = []
}
