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

  var isHint: Bool { mode == nil }

  /// The mode of the scan; `nil` for a hint.
  var mode: ScanMode? {
    if case .scan(let mode) = self { mode } else { nil }
  }
}
