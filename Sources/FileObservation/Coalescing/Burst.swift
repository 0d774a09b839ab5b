import SystemCalls

/// The changes since the last batch, until the debouncer says that they are one.
struct Burst: Sendable {
  /// What a report means for the debouncer.
  struct News {
    /// Whether the burst has begun with it.
    let isFirst: Bool
    /// Whether a file of the burst is open for writing, or was renamed and its path is free.
    let isBeingWritten: Bool
    /// The files whose content has changed that existed when the burst began, and are not open for writing.
    let saved: [Path]
  }

  /// The paths whose changes do not prolong a burst.
  var frequentPaths: Set<Path>
  /// Whether events were dropped, and the changes found by a rescan.
  private(set) var overflow = false
  private var coalescer = Coalescer()
  private var isUnderWay = false

  /// Notes events. Returns `nil` if they neither begin nor prolong the burst: a change of metadata
  /// alone, and those of frequent paths.
  mutating func note(
    _ events: [RawEvent], afterOverflow: Bool, countsMetadata: Bool
  ) -> News? {
    var isNews = afterOverflow
    var saved: [Path] = []
    for event in events where countsMetadata || event.kind != .metadata {
      let isSaved = coalescer.note(event)
      isNews = isNews || !(isUnderWay && frequentPaths.contains(event.path))
      if isSaved && !frequentPaths.contains(event.path) { saved.append(event.path) }
    }
    overflow = overflow || afterOverflow
    guard isNews else { return nil }
    defer { isUnderWay = true }
    return News(
      isFirst: !isUnderWay, isBeingWritten: coalescer.isBeingWritten || coalescer.isPathFree,
      saved: saved)
  }

  /// The changes so far. The next ones are another burst's.
  mutating func take() -> Burst {
    defer { self = Burst(frequentPaths: frequentPaths) }
    return self
  }

  /// The net changes, at most one for each path.
  consuming func netChanges() -> [ChangeBatch.Change] { coalescer.take() }

  init(frequentPaths: Set<Path> = []) {
    self.frequentPaths = frequentPaths
  }
}
