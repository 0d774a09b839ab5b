import SystemCalls

/// What happened to the watched paths in one burst: one net change a path.
public struct ChangeBatch: Sendable, Hashable {
  /// One path, and what became of it from the beginning of the burst to its end.
  public struct Change: Sendable, Hashable {
    /// The absolute path, spelled as the root was given.
    public var path: Path
    /// What happened.
    public var kind: Kind
    /// What the path names now; `unknown` where it is gone.
    public var type: FileType
    /// Where it was before; only with `renamed`.
    public var from: Path?

    /// A change of `path`.
    public init(path: Path, kind: Kind, type: FileType, from: Path? = nil) {
      self.path = path
      self.kind = kind
      self.type = type
      self.from = from
    }
  }

  /// What can happen to a path.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It was not there before the burst.
    case created
    /// Its content was written, or replaced by another file's.
    case modified
    /// It was there before the burst.
    case removed
    /// It was there before the burst under another name, which is there no more.
    case renamed
    /// Only its mode, owner, times or extended attributes changed.
    case metadata
  }

  /// Which batch it is, counted from 1.
  public var number: Int
  /// The changes, in the order in which the paths first appeared.
  public var changes: [Change]
  /// True if the kernel's queue overflowed, so that the tree was read again to find what changed;
  /// the changes are those that were found.
  public var overflow: Bool

  /// A batch of these changes.
  public init(number: Int, changes: [Change], overflow: Bool = false) {
    self.number = number
    self.changes = changes
    self.overflow = overflow
  }
}

// What a batch is made of belongs to its public face.
@_exported import enum SystemCalls.FileType
@_exported import struct SystemCalls.Path
@_exported import struct SystemCalls.SystemError
