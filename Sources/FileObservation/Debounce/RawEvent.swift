import SystemCalls

/// An event of a backend. All events of a path in one burst become one net change.
package struct RawEvent: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case created
    /// Written to; `isOpen` if the writer has not closed it.
    case modified(isOpen: Bool)
    case removed
    case metadata
    /// The two halves of a rename have the same cookie; either may be missing.
    case movedFrom(cookie: UInt32)
    /// `replacing` if an entry of that name existed.
    case movedTo(cookie: UInt32, replacing: Bool)
  }

  package let path: Path
  package let kind: Kind
  package let type: FileType

  package init(path: Path, kind: Kind, type: FileType) {
    self.path = path
    self.kind = kind
    self.type = type
  }
}
