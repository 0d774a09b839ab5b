extension TreeSnapshot {
  /// Flags that the observer sets on entries.
  struct Marks: OptionSet, Sendable {
    let rawValue: UInt8

    /// A root, to which no filter applies.
    static let root = Marks(rawValue: 1)
    /// A root, an ancestor of one or an ignore file that does not exist at present, or was not found in its directory
    /// yet.
    static let absent = Marks(rawValue: 2)
    /// An entry of the listing that is being compared.
    static let seen = Marks(rawValue: 4)
    /// A directory in which entries have appeared or disappeared.
    static let entriesChanged = Marks(rawValue: 8)
    /// A directory of the first scan whose entries are not known yet. It is pending.
    static let unread = Marks(rawValue: 16)
  }
}

extension TreeSnapshot {
  func marks(of entry: Entry) -> Marks {
    records[Int(entry.number)].marks
  }

  mutating func mark(_ entry: Entry, _ marks: Marks) {
    records[Int(entry.number)].marks.formUnion(marks)
  }

  mutating func unmark(_ entry: Entry, _ marks: Marks) {
    records[Int(entry.number)].marks.subtract(marks)
  }
}

// MARK: - Inodes and fingerprints

extension TreeSnapshot {
  /// The inode of an entry; 0 if it is unknown.
  func inode(of entry: Entry) -> UInt64 {
    records[Int(entry.number)].inode
  }

  mutating func setInode(_ inode: UInt64, of entry: Entry) {
    records[Int(entry.number)].inode = inode
  }

  /// The fingerprint with which the entry was last reported or recorded, if any. Its inode is
  /// ``inode(of:)``.
  func fingerprint(of entry: Entry) -> Fingerprint? {
    let record = records[Int(entry.number)]
    return record.fingerprint.map { Fingerprint(inode: record.inode, $0) }
  }

  mutating func setFingerprint(_ fingerprint: Fingerprint?, of entry: Entry) {
    records[Int(entry.number)].fingerprint = fingerprint?.state
  }
}
