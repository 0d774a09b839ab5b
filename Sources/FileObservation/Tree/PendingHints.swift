import SystemCalls

/// A hint that was read and must be processed.
///
/// It belongs to a watch and not to an entry: a renamed directory keeps its watch, and has another
/// entry afterwards.
struct PendingHint {
  struct Target: Hashable {
    let watch: Int32
    let name: [UInt8]
  }

  let target: Target
  var reasons: Hint.Reasons
  var watch: Int32 { target.watch }
  var name: [UInt8] { target.name }
}

/// The hints that were read and must still be processed, and the destinations of renames whose hints
/// have not been read yet. Events are reported once they are known, since both belong to one batch.
struct PendingHints {
  var pending: [PendingHint] = []
  /// The cookies of renames of which only the first hint was read.
  var departed: Set<UInt32> = []
  /// Whether a renamed entry may have been renamed again before it was compared.
  var isLateArrivalExpected = false
  /// Whether the kernel has dropped hints since the last rescan.
  var areDropped = false

  var areArrivalsAwaited: Bool { !departed.isEmpty || isLateArrivalExpected }
}
