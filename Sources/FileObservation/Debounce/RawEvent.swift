import SystemCalls

/// An event of a backend. All events of a path in one burst become one net change.
package struct RawEvent: Sendable, Equatable {
  package enum Kind: Sendable, Hashable {
    case created
    /// Written to or replaced; `isOpen` if the writer has not closed it.
    case modified(isOpen: Bool)
    case removed
    case metadata
  }

  /// A file that has appeared at a path or disappeared from it.
  package struct Sighting: Sendable, Equatable {
    package let inode: UInt64
    package let type: FileType
    /// Its fingerprint, if its status is known.
    package let fingerprint: Fingerprint?
    /// Whether the source has hinted at a rename, or at neither creation nor removal.
    package let mayBeRenamed: Bool
    /// The earliest time at which it is known to have existed: its birth time if it has appeared.
    package let existed: FileTime

    package init(
      inode: UInt64, type: FileType, fingerprint: Fingerprint?, mayBeRenamed: Bool,
      existed: FileTime
    ) {
      self.inode = inode
      self.type = type
      self.fingerprint = fingerprint
      self.mayBeRenamed = mayBeRenamed
      self.existed = existed
    }
  }

  package let path: Path
  package let kind: Kind
  package let type: FileType
  /// The file that is not at the path any more, if it may be at another one.
  package let disappeared: Sighting?
  /// The file that is at the path now, if it may have been at another one.
  package let appeared: Sighting?

  package init(
    path: Path, kind: Kind, type: FileType, disappeared: Sighting? = nil,
    appeared: Sighting? = nil
  ) {
    self.path = path
    self.kind = kind
    self.type = type
    self.disappeared = disappeared
    self.appeared = appeared
  }
}

extension RawEvent.Sighting {
  /// Whether a file that has appeared elsewhere is this one, which has disappeared. The fingerprints
  /// prove it; without one, the other must be old enough, and both may be halves of a rename.
  func isSameFile(as other: Self) -> Bool {
    guard inode == other.inode, type == other.type else { return false }
    if let fingerprint, let later = other.fingerprint { return fingerprint.isSameFile(as: later) }
    return mayBeRenamed && other.mayBeRenamed && other.existed < existed
  }
}
