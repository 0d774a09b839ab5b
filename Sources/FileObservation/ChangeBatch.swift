import SystemCalls

/// The net changes of one burst, at most one for each path.
///
/// The change of a directory covers its descendants: with `renamed` they have moved along, and with `removed` they are
/// gone, whether or not they have changes of their own; with `created` and `modified`, which says that another directory
/// has taken its place, each has one. <doc:ApplyingABatch> has the details, and says how to mirror a tree.
public struct ChangeBatch: Sendable, Hashable {
  /// A path, and how it differs at the end of the burst from its beginning.
  public struct Change: Sendable, Hashable {
    /// The absolute path, spelled as the root was given.
    public var path: Path
    /// What happened.
    public var kind: Kind
    /// The type of the entry; `unknown` if it was removed.
    public var type: FileType
    /// The path before; only with `renamed`.
    public var from: Path?

    /// A change of `path`.
    public init(path: Path, kind: Kind, type: FileType, from: Path? = nil) {
      self.path = path
      self.kind = kind
      self.type = type
      self.from = from
    }
  }

  /// The kinds of change.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It did not exist before the burst.
    case created
    /// Its content was written, or replaced by another file's.
    case modified
    /// It existed before the burst, and does not any more.
    case removed
    /// It existed before the burst under another path, which does not exist any more. A file that has the path of
    /// another one like that is modified, and its former path removed.
    case renamed
    /// Only its mode, owner, times or extended attributes changed.
    case metadata
  }

  /// The number of the batch, counted from 1.
  public var number: Int
  /// The changes, in the order in which the paths first appeared.
  public var changes: [Change]
  /// Whether the kernel's queue overflowed, so that the changes were found by a rescan. They are as
  /// complete as otherwise.
  public var overflow: Bool
  /// Whether a flush delivered it before the end of the burst, which goes on.
  package var isPartial = false

  /// A batch of these changes.
  public init(number: Int, changes: [Change], overflow: Bool = false) {
    self.number = number
    self.changes = changes
    self.overflow = overflow
  }
}

// Clients need the types of a batch's properties and of an observer's options, and need not know the
// modules that define them.
@_exported import PathFiltering
@_exported import enum SystemCalls.FileType
