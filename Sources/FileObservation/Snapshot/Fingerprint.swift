import SystemCalls

/// What is remembered of an entry in order to see, on the next look at it, whether it has changed,
/// where nobody tells: 32 bytes.
///
/// A change is recognised by the exact change time, which every change moves, by the inode and by
/// what was hashed; the hashes of 32 bits only serve to tell one kind of change from the other.
package struct Fingerprint: Hashable, Sendable {
  package let inode: UInt64
  fileprivate let changed: FileTime
  fileprivate let content: UInt32
  fileprivate let attributes: UInt32
  /// 0 where the file system does not keep when a file was made.
  fileprivate let born: UInt32

  package init(_ status: FileStatus) {
    let content = Self.mix(UInt64(bitPattern: status.modified.nanoseconds), status.size)
    inode = status.inode
    changed = status.changed
    self.content = UInt32(truncatingIfNeeded: content >> 32)
    attributes = UInt32(truncatingIfNeeded: Self.mix(status.attributes, status.device) >> 32)
    born = UInt32(
      truncatingIfNeeded: Self.mix(UInt64(bitPattern: status.born?.nanoseconds ?? 0), 0) >> 32)
  }

  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let mixed = (left ^ (right &* 0xff51_afd7_ed55_8ccd)) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }

  /// What has happened between this look and a later one; nil if nothing.
  package func difference(to later: Fingerprint) -> Difference? {
    if self == later { return nil }
    if !isOneFile(with: later) || content != later.content { return .content }
    // The times of a file can be set back after it was written to. Only where something else is
    // seen to have changed is that what has moved the change time.
    return attributes == later.attributes ? .content : .attributes
  }

  package enum Difference: Sendable {
    /// It was written to, or is another file.
    case content
    /// Its mode, owner or number of names.
    case attributes
  }

  /// True if this may be the same file under another name. An inode's number alone proves nothing,
  /// since it is given to the next file that is made: the file must also have been made at the same
  /// time or, where that is not kept, hold the same.
  package func isSameFile(as other: Fingerprint) -> Bool {
    inode == other.inode && born == other.born && (born != 0 || content == other.content)
  }

  /// True unless another file has certainly taken this one's place.
  package func isOneFile(with later: Fingerprint) -> Bool {
    inode == later.inode && born == later.born
  }

  /// True if it holds what it held before.
  package func holdsTheSame(as other: Fingerprint) -> Bool {
    content == other.content
  }
}
