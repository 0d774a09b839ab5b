extension TreeSnapshot {
  /// Flags that the observer sets on entries.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// A root, to which no filter applies.
    package static let root = Marks(rawValue: 1)
    /// A root, an ancestor of one or an ignore file that does not exist at present, or whose
    /// appearance was not reported yet.
    package static let absent = Marks(rawValue: 2)
    /// An entry of the listing that is being compared.
    package static let seen = Marks(rawValue: 4)
    /// An ignore file outside of the roots to which it applies. It is watched by name.
    package static let ignoreFile = Marks(rawValue: 8)
    /// A directory in which entries have appeared or disappeared.
    package static let entriesChanged = Marks(rawValue: 16)
    /// A directory of the first scan whose entries are not known yet. It is pending.
    package static let unread = Marks(rawValue: 32)
  }
}
