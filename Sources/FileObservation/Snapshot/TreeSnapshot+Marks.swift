extension TreeSnapshot {
  /// What the snapshot's owner notes of an entry.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Asked for by name: no filter is asked about it.
    package static let wanted = Marks(rawValue: 1)
    /// Known by name only: nothing is there at present.
    package static let absent = Marks(rawValue: 2)
    /// Met in the listing that is going on.
    package static let seen = Marks(rawValue: 4)
    /// On the way to a wanted entry that is not there at present.
    package static let awaited = Marks(rawValue: 8)
    /// A file of rules, asked for by name though it may be no part of what is watched.
    package static let rules = Marks(rawValue: 16)
    /// On the way to a file of rules, in a folder that is not entered otherwise.
    package static let passage = Marks(rawValue: 32)
    /// A directory of which the source has hinted at an entry that came or went.
    package static let stirred = Marks(rawValue: 64)
  }
}
