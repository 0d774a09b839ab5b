import SystemCalls

/// The occasion on which an entry is compared with the snapshot.
enum Occasion {
  /// The source has hinted at it.
  case hint(Hint.Reasons)
  /// Its directory is scanned.
  case scan(ScanMode)

  /// The reasons of the hint; empty for a scan.
  var reasons: Hint.Reasons {
    if case .hint(let reasons) = self { return reasons }
    return []
  }

  var isHint: Bool {
    if case .hint = self { true } else { false }
  }

  /// Whether hints of the end of watches may have been dropped.
  var renewsWatches: Bool {
    if case .scan(let mode) = self { mode.renewsWatches } else { false }
  }

  /// Whether the ignore rules have changed.
  var isRefilter: Bool {
    if case .scan(let mode) = self { mode.isRefilter } else { false }
  }
}
