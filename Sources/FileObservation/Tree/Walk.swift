import SystemCalls

/// The scan that is under way: which directories are still to be listed, and what is reused from one to
/// the next.
struct Walk {
  /// A directory to be watched and listed.
  struct Visit {
    let directory: TreeSnapshot.Entry
    let mode: ScanMode
  }

  let reader = DirectoryReader()
  let openDirectories = OpenDirectories()
  var pending: [Visit] = []
  /// The same for those behind links: what is also reached without a link is known by that name.
  var pendingLinks: [Visit] = []
  /// How many directories the first scan has left out.
  var prunedCount = 0
  /// Whether every directory was compared once after its baseline.
  var isComparedOnce = false
  private var spareBuffers: [Buffers] = []

  /// Memory that one visit uses after the other. Several are in use when a directory has to be visited during
  /// the visit of another.
  struct Buffers {
    var listing = DirectoryListing()
    var directoryPath: [UInt8] = []
    var entryPath = EntryPath()
  }

  mutating func takeBuffers() -> Buffers { spareBuffers.popLast() ?? Buffers() }

  mutating func giveBack(_ buffers: consuming Buffers) { spareBuffers.append(buffers) }
}
