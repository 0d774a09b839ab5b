import SystemCalls

/// An event of a backend. All events of a path in one burst become one net change.
struct RawEvent: Sendable, Equatable {
  enum Kind: Sendable, Hashable {
    /// A file has appeared. It has replaced another one if that was removed before.
    case created
    /// Written to; `isOpen` if the writer has not closed it.
    case modified(isOpen: Bool)
    case removed
    case metadata
  }

  let path: Path
  let kind: Kind
  let type: FileType
  /// The file that was created or removed, unless it cannot have been renamed.
  private(set) var file: Sighting?

  /// A file that has appeared at a path or disappeared from it.
  struct Sighting: Sendable, Equatable {
    let inode: UInt64
    /// The earliest time at which it is known to have existed: its birth time if it has appeared.
    let existed: FileTime
    /// Its fingerprint, if its status is known.
    let fingerprint: Fingerprint?
    let type: FileType
    /// Whether the source has hinted at a rename, or at neither creation nor removal.
    let mayBeRenamed: Bool

    /// Whether a file that has appeared elsewhere is this one, which has disappeared. The
    /// fingerprints prove it; without one, the other must be old enough, and both must have moved
    /// with their directory or may be halves of a rename.
    func isSameFile(as other: Self, movedWithDirectory hasMoved: Bool) -> Bool {
      guard inode == other.inode, type == other.type else { return false }
      if let fingerprint, let later = other.fingerprint { return fingerprint.isSameFile(as: later) }
      return other.existed < existed && (hasMoved || (mayBeRenamed && other.mayBeRenamed))
    }
  }
}
