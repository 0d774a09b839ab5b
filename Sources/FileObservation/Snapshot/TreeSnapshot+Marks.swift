extension TreeSnapshot {
  /// Flags that the observer sets on entries.
  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// A root, to which no filter applies.
    package static let root = Marks(rawValue: 1)
    /// An entry that does not exist at present.
    package static let absent = Marks(rawValue: 2)
    /// An entry of the listing that is being compared.
    package static let seen = Marks(rawValue: 4)
    package static let ancestorOfMissingRoot = Marks(rawValue: 8)
    /// An ignore file that is watched by name, although it need not be in a root.
    package static let ignoreFile = Marks(rawValue: 16)
    /// A directory that is only known because it contains such an ignore file.
    package static let ancestorOfIgnoreFile = Marks(rawValue: 32)
    /// A directory in which entries have appeared or disappeared.
    package static let entriesChanged = Marks(rawValue: 64)
    /// A file whose state was only reported as a change of attributes. The hint of an earlier
    /// write may not have been read yet.
    package static let touched = Marks(rawValue: 128)
  }
}
