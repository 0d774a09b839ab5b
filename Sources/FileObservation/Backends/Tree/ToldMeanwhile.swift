/// What has been told of entries since the first walk began.
///
/// A second look follows the walk, for what had changed before it came by. It goes by times, and the clock
/// from which the kernel stamps files is a coarse one: what is known to have been told is not to be told
/// again, in a batch and a run of its own.
struct ToldMeanwhile: Equatable {
  private var created: Set<TreeSnapshot.Entry> = []
  private var modified: Set<TreeSnapshot.Entry> = []
  private var touched: Set<TreeSnapshot.Entry> = []

  mutating func note(_ kind: RawEvent.Kind, of entry: TreeSnapshot.Entry) {
    switch kind {
    case .created, .movedTo: created.insert(entry)
    case .modified: modified.insert(entry)
    case .metadata: touched.insert(entry)
    case .removed, .movedFrom: break
    }
  }

  /// True if anything was told of the entry.
  func isKnown(_ entry: TreeSnapshot.Entry) -> Bool {
    created.contains(entry) || modified.contains(entry) || touched.contains(entry)
  }

  /// True if a change of this kind is covered by what was told: whoever saw that has seen it as well.
  func covers(_ kind: RawEvent.Kind, of entry: TreeSnapshot.Entry) -> Bool {
    switch kind {
    case .created, .movedTo: created.contains(entry)
    case .modified: created.contains(entry) || modified.contains(entry)
    case .removed, .movedFrom, .metadata: false
    }
  }

  /// The entry is gone, and another may be called by its number.
  mutating func forget(_ entry: TreeSnapshot.Entry) {
    created.remove(entry)
    modified.remove(entry)
    touched.remove(entry)
  }
}
