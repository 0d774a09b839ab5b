import PathFiltering
import SystemCalls

/// The occasion on which an entry, or all that a directory contains, is compared with the snapshot.
enum Occasion {
  /// The source has hinted at an entry.
  case hint(Hint.Reasons)
  /// Records the entries of a directory.
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
    case directory
    /// A directory and its descendants, whose watches may be outdated.
    case tree
  }
}

extension Occasion {
  /// The reasons of the hint; empty for a scan.
  var reasons: Hint.Reasons {
    if case .hint(let reasons) = self { reasons } else { [] }
  }

  var isHint: Bool {
    if case .hint = self { true } else { false }
  }

  var isBaseline: Bool {
    if case .baseline = self { true } else { false }
  }

  var isDiff: Bool {
    if case .diff = self { true } else { false }
  }

  var isRefilter: Bool {
    if case .refilter = self { true } else { false }
  }

  /// Whether directories must be watched again, since hints of their replacement may have been
  /// dropped, or what was watched by name at the path of a new one may have been another.
  var renewsWatches: Bool {
    switch self {
    case .discover, .diff(_, .tree): true
    case .hint, .baseline, .refilter, .diff: false
    }
  }

  /// Whether an entry is compared by its status and not only by its name.
  func comparesStatus(isKnown: Bool) -> Bool {
    switch self {
    case .baseline: false
    case .discover: !isKnown
    case .hint, .refilter, .diff: true
    }
  }

  /// The occasion for a directory that is new at its path.
  var forNewDirectory: Occasion {
    switch self {
    case .baseline: self
    // Entries that appeared in the clock tick of that time have no hint here.
    case .refilter(let since): .refilter(since: since.advanced(by: .nanoseconds(-1)))
    case .hint, .discover, .diff: .discover
    }
  }
}

extension ObservedTree {
  /// The directory of an entry that is reconciled.
  struct Site {
    let directory: Entry
    let details: DirectoryTable.Directory
    let stack: IgnoreStack?
    /// The rules that were in force before, if others are applied.
    var former: IgnoreStack?
    /// Whether it may have got an entry since the time from which changes are reported.
    var isChanged = false

    var isRecursive: Bool { details.coverage == .recursive }
    /// Whether it was watched before it was scanned.
    var isWatched: Bool { details.watch != nil }
  }
}
