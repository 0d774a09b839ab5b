import SystemCalls

/// The fingerprint of an entry's status, in 32 bytes: if two are equal, the entry was not changed
/// in between, unless the first is racy.
///
/// A change is recognised by the exact ctime, which every change moves, and by the inode. The
/// 32-bit hashes only distinguish kinds of changes.
package struct Fingerprint: Equatable, Sendable {
  package let inode: UInt64
  fileprivate let changed: FileTime
  fileprivate let content: UInt32
  fileprivate let attributes: UInt32
  /// A hash of the birth time; 0 if the file system does not store it.
  fileprivate let born: UInt32
  /// Whether it was taken within a clock tick of the last change: another change in that tick
  /// leaves the same fingerprint.
  package let isRacy: Bool

  package init(_ status: FileStatus, now: FileTime = .now()) {
    let content = Self.mix(UInt64(bitPattern: status.modified.nanoseconds), status.size)
    inode = status.inode
    changed = status.changed
    isRacy = status.isRacy(now)
    self.content = UInt32(truncatingIfNeeded: content >> 32)
    attributes = UInt32(truncatingIfNeeded: Self.mix(status.attributes, status.device) >> 32)
    born = UInt32(
      truncatingIfNeeded: Self.mix(UInt64(bitPattern: status.born?.nanoseconds ?? 0), 0) >> 32)
  }

  package static func == (left: Fingerprint, right: Fingerprint) -> Bool {
    left.inode == right.inode && left.changed == right.changed && left.content == right.content
      && left.attributes == right.attributes && left.born == right.born
  }

  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let mixed = (left ^ (right &* 0xff51_afd7_ed55_8ccd)) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }

  /// The change between this fingerprint and a later one; `nil` if there is none.
  package func difference(to later: Fingerprint) -> Difference? {
    if self == later { return nil }
    if !mayBeSameFile(as: later) || content != later.content { return .content }
    // The mtime of a file can be set back after a write. Only if another attribute has changed does
    // that explain a new ctime.
    return attributes == later.attributes ? .content : .attributes
  }

  package enum Difference: Sendable {
    /// The file was written to or replaced.
    case content
    /// Its mode, owner or number of links changed.
    case attributes
  }

  /// Whether this is the same file under another name. The inode alone proves nothing, since it is
  /// reused: the birth time must be the same too, or, where it is not stored, the content.
  package func isSameFile(as other: Fingerprint) -> Bool {
    inode == other.inode && born == other.born && (born != 0 || content == other.content)
  }

  /// Whether nothing proves that another file has taken this one's place.
  package func mayBeSameFile(as later: Fingerprint) -> Bool {
    inode == later.inode && born == later.born
  }
}
