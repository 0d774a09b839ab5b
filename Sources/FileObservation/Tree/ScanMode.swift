import SystemCalls

/// The purpose for which a directory is scanned.
enum ScanMode {
  /// Records the entries.
  case baseline
  /// Reports all entries: the directory is new.
  case discover
  /// Reports the entries that have changed since a time or differ from their fingerprint.
  case diff(since: FileTime, Extent)
  /// Applies other ignore rules: records entries that are no longer ignored, and reports what has
  /// changed after a time, of which the hints were judged by the former rules.
  case refilter(since: FileTime)

  enum Extent {
    /// One directory, for the first time since its baseline. If it is watched, changes after that
    /// time have hints, which also say whether they are of attributes alone.
    case firstTime(until: FileTime)
    /// One directory.
    case directory
    /// A directory and its descendants, whose watches may be outdated.
    case tree
  }
}

extension ScanMode {
  var isDiff: Bool {
    if case .diff = self { return true }
    return false
  }

  /// Whether the ignore rules have changed.
  var isRefilter: Bool {
    if case .refilter = self { return true }
    return false
  }

  /// Whether directories must be watched again, since hints of their replacement may have been
  /// dropped.
  var renewsWatches: Bool {
    if case .diff(_, .tree) = self { return true }
    return false
  }

  /// Whether a listed entry is compared by its status and not only by its name.
  func comparesStatus(isKnown: Bool) -> Bool {
    switch self {
    case .baseline: false
    case .discover: !isKnown
    case .refilter, .diff: true
    }
  }

  /// The mode for a directory that is new at its path.
  var forNewDirectory: ScanMode {
    switch self {
    case .baseline: self
    // Entries that appeared in the clock tick of that time have no hint here.
    case .refilter(let since): .refilter(since: since.advanced(by: .nanoseconds(-1)))
    case .discover, .diff: .discover
    }
  }
}
