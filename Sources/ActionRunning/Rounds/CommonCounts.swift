import Support

/// The counts of changes of whatever paths: runs may change another one each time, and others may answer to them with
/// another one.
struct CommonCounts: Sendable {
  private var all = RepetitionCount()
  /// Those among them that others are proved to make.
  private var ofOthers = RepetitionCount()

  var isSuspected: Bool { all.isSuspected }

  /// The count to which a change of this verdict belongs.
  subscript(verdict: Verdict) -> RepetitionCount { verdict == .others ? ofOthers : all }

  /// A path has changed, see `RepetitionCount.changed(_:at:after:isInFinite:countsEach:)`.
  mutating func changed(
    _ verdict: Verdict, at now: Instant, after offset: Duration, isInFinite: Bool
  ) {
    all.changed(verdict, at: now, after: offset, isInFinite: isInFinite)
    if verdict == .others {
      ofOthers.changed(verdict, at: now, after: offset, isInFinite: isInFinite)
    }
  }

  /// Runs have begun, so long after those before.
  mutating func began(after time: Duration, isComplete: Bool) {
    all.began(after: time, isComplete: isComplete)
    ofOthers.began(after: time, isComplete: isComplete)
  }

  /// Runs are requested for what has changed.
  mutating func answered() {
    all.answered()
    ofOthers.answered()
  }

  mutating func reset() { self = CommonCounts() }
  mutating func doubt() { all.doubt() }
  mutating func leftUnchanged() { all.leftUnchanged() }
}
