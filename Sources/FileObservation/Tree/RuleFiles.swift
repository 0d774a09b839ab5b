import PathFiltering
import SystemCalls

/// The ignore files that were read, and where they have changed since.
struct RuleFiles {
  var files: [Path: IgnoreFile] = [:]
  /// Directories in which, or above which, a file of rules has changed.
  var stale: Set<TreeSnapshot.Entry> = []
}
