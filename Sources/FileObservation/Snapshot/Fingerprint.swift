import SystemCalls

/// The fingerprint of an entry's status: if two are equal, the entry was not changed in between,
/// unless the first is uncertain.
///
/// A change is recognised by the exact ctime, which every change moves, and by the inode. The
/// 32-bit hashes only distinguish kinds of changes.
struct Fingerprint: Equatable, Sendable {
  /// What is stored beside the inode, in 21 bytes.
  struct State: Sendable {
    fileprivate let changed: FileTime
    fileprivate let content: UInt32
    fileprivate let attributes: UInt32
    /// A hash of the birth time and the device; 0 if the file system does not store the time. Snapshots of btrfs
    /// have the inodes and the times of what they were taken of.
    fileprivate let born: UInt32
    fileprivate var flags: Flags

    fileprivate var isDirectory: Bool { flags.contains(.directory) }
  }

  fileprivate struct Flags: OptionSet {
    let rawValue: UInt8

    static let directory = Flags(rawValue: 1)
    /// It was taken within a clock tick of the last change, or of the last write.
    static let racy = Flags(rawValue: 2)
    static let written = Flags(rawValue: 4)
    static let partial = Flags(rawValue: 8)
  }

  let inode: UInt64
  private(set) var state: State

  /// Whether a change that it shows was not reported in full.
  var isPartial: Bool { state.flags.contains(.partial) }

  /// Whether the file may differ from what was last reported although its fingerprint is the same.
  /// It is partial, or was taken within a clock tick of the last change: another change in that
  /// tick leaves the same fingerprint.
  var isUncertain: Bool { !state.flags.isDisjoint(with: [.racy, .partial]) }

  /// Whether a write since a time may have left the fingerprint as it is.
  func mayBeWritten(since time: FileTime) -> Bool {
    isPartial || state.flags.contains(.written) && state.changed >= time
  }

  init(_ status: FileStatus, now: FileTime = .now()) {
    let content = Self.mix(UInt64(bitPattern: status.modified.nanoseconds), status.size)
    let attributes = Self.mix(status.attributes, status.device)
    inode = status.inode
    state = State(
      changed: status.changed, content: UInt32(truncatingIfNeeded: content >> 32),
      attributes: UInt32(truncatingIfNeeded: attributes >> 32),
      born: Self.birth(of: status), flags: Self.flags(of: status, now))
  }

  private static func flags(of status: FileStatus, _ now: FileTime) -> Flags {
    var flags: Flags = status.type == .directory ? .directory : []
    if status.isRacy(now) {
      flags.insert(.racy)
      if status.isRacy(now, since: status.modified) { flags.insert(.written) }
    }
    return flags
  }

  init(inode: UInt64, _ state: State) {
    (self.inode, self.state) = (inode, state)
  }

  static func == (left: Fingerprint, right: Fingerprint) -> Bool {
    left.mayBeSameFile(as: right) && left.state.changed == right.state.changed
      && left.state.content == right.state.content
      && left.state.attributes == right.state.attributes
  }

  private static func birth(of status: FileStatus) -> UInt32 {
    guard let born = status.born else { return 0 }
    let mixed = mix(UInt64(bitPattern: born.nanoseconds), status.device)
    return UInt32(truncatingIfNeeded: mixed >> 32)
  }

  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let mixed = (left ^ (right &* 0xff51_afd7_ed55_8ccd)) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ (mixed >> 29)
  }

  /// The same fingerprint, of a change that was not reported in full.
  var partial: Fingerprint {
    var copy = self
    copy.state.flags.insert(.partial)
    return copy
  }

  /// The change between this fingerprint and a later one; `nil` if there is none.
  func difference(to later: Fingerprint) -> Difference? {
    if self == later { return nil }
    if !mayBeSameFile(as: later) { return .content }
    let isTouched = state.attributes != later.state.attributes
    // The entries of a directory are compared one by one.
    if state.isDirectory { return isTouched ? .attributes : nil }
    // The mtime of a file can be set back after a write. Only if another attribute has changed does
    // that explain a new ctime.
    return isTouched && state.content == later.state.content ? .attributes : .content
  }

  enum Difference: Sendable {
    /// The file was written to or replaced.
    case content
    /// Its mode, owner or number of links changed.
    case attributes
  }

  /// Whether this is the same file under another name. The inode alone proves nothing, since it is
  /// reused: the birth time must be the same too, or, where it is not stored, the content.
  func isSameFile(as other: Fingerprint) -> Bool {
    mayBeSameFile(as: other) && (state.born != 0 || state.content == other.state.content)
  }

  /// Whether nothing proves that the file with that status is another one.
  func mayBeSameFile(as status: FileStatus) -> Bool {
    inode == status.inode && state.born == Self.birth(of: status)
      && state.isDirectory == (status.type == .directory)
  }

  /// Whether nothing proves that another file has taken this one's place.
  func mayBeSameFile(as later: Fingerprint) -> Bool {
    inode == later.inode && state.born == later.state.born
      && state.isDirectory == later.state.isDirectory
  }
}
