/// A place where something may have changed, and the reasons: an entry of a watched directory, or
/// the watched directory or file itself.
struct Hint {
  struct Reasons: OptionSet, Sendable {
    let rawValue: UInt16

    /// The entry was created, or renamed to this name.
    static let appeared = Reasons(rawValue: 1)
    /// The entry was removed, or renamed from this name.
    static let disappeared = Reasons(rawValue: 2)
    /// The entry appeared or disappeared by a rename.
    static let moved = Reasons(rawValue: 4)
    static let written = Reasons(rawValue: 8)
    /// A writer has closed the file.
    static let closed = Reasons(rawValue: 16)
    /// Its mode, owner, timestamps or number of links changed.
    static let attributes = Reasons(rawValue: 32)
    /// The entry is a directory.
    static let directory = Reasons(rawValue: 64)
    /// Any entry of the watched directory may have changed.
    static let entries = Reasons(rawValue: 128)
    /// The watched directory or file was removed or renamed.
    static let gone = Reasons(rawValue: 256)
    /// The watch is no longer in force.
    static let unwatched = Reasons(rawValue: 512)
    /// The file system was unmounted from the watched directory.
    static let unmounted = Reasons(rawValue: 1024)
    /// Hints were dropped: anything may have changed.
    static let overflow = Reasons(rawValue: 2048)
  }

  let watch: Int32
  let reasons: Reasons
  /// The same number in both hints of a rename; 0 in other hints.
  var cookie: UInt32 = 0
  /// The name of the entry; empty for the watched directory or file itself. Valid only during the
  /// call of `body` in ``HintSource/read(_:)``.
  let name: UnsafeBufferPointer<UInt8>
}
