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

/// The hints that were read and must still be processed.
struct PendingHints {
  var pending: [PendingHint] = []
  var awaited = AwaitedArrivals()
  /// Whether the kernel has dropped hints since the last rescan.
  var areDropped = false
}
