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
  /// Those that are not in use: a directory may have to be listed while another one's listing is followed.
  var listings: [DirectoryListing] = []
  var pending: [Visit] = []
  /// The same for those behind links: what is also reached without a link is known by that name.
  var pendingLinks: [Visit] = []
  /// How many directories the first scan has left out.
  var prunedCount = 0
  /// Whether every directory was compared once after its baseline.
  var isComparedOnce = false
  /// Room for a path.
  var path: [UInt8] = []

  /// Room for the path of a directory.
  var spare: [UInt8] = []

  mutating func takeSpare() -> [UInt8] {
    defer { spare = [] }
    return spare
  }

  /// The room for a path, to be put back.
  mutating func takeRoom() -> [UInt8] {
    defer { path = [] }
    return path
  }
}
