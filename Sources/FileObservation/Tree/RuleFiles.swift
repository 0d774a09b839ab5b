import PathFiltering
import SystemCalls

/// The ignore files that were read, and where they have changed since.
struct RuleFiles {
  var files: [Path: IgnoreFile] = [:]
  /// Directories in which, or above which, a file of rules has changed.
  var stale: Set<TreeSnapshot.Entry> = []
  /// Files that cannot be read, and were reported.
  var unreadable: Set<Path> = []
}
