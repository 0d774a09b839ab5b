import SystemCalls

/// The state of scans: the directories that must still be scanned, until when all changes were
/// found, and reused memory.
struct Walk {
  /// A directory that must be watched and listed.
  typealias PendingScan = (directory: TreeSnapshot.Entry, mode: Occasion)

  let openDirectories = OpenDirectories()
  var pending: [PendingScan] = []
  /// Followed links. They are scanned last: a directory that is also reached without a link is
  /// known by that path.
  var pendingLinks: [PendingScan] = []
  /// The number of ignored directories in the first scan.
  var prunedCount = 0
  /// Whether every directory was compared at least once after its baseline.
  var isComparedOnce = false
  /// All changes before this time were found, in polled directories too.
  var comparedUntil: FileTime
  var racilyClean = RacilyCleanFiles()
  private var spareBuffers: [Buffers] = []

  init(start: FileTime) {
    comparedUntil = start
  }

  /// Memory for the scan of one directory, reused for the next. A directory that must be scanned
  /// during the scan of another uses buffers of its own.
  struct Buffers {
    var listing = DirectoryListing()
    var directoryPath: [UInt8] = []
    var entryPath = EntryPath()
  }

  mutating func takeBuffers() -> Buffers { spareBuffers.popLast() ?? Buffers() }

  mutating func giveBack(_ buffers: consuming Buffers) { spareBuffers.append(buffers) }
}

/// The path of an entry, and the offset of its name.
struct EntryPath {
  private(set) var bytes: [UInt8] = []
  private(set) var nameStart = 0

  var path: Path { Path(bytes: bytes) }

  /// Sets the directory, whose entries' names are set next.
  mutating func setDirectory(_ directory: Path) {
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(directory.bytes.count + 64)
    bytes.append(contentsOf: directory.bytes)
    if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
    nameStart = bytes.count
  }

  mutating func setName(_ name: UnsafeBufferPointer<UInt8>) {
    bytes.removeLast(bytes.count - nameStart)
    bytes.append(contentsOf: name)
  }
}
