#if canImport(Darwin)

/// A kind of file system on which other machines make changes that the kernel does not report.
package struct FileSystemKind: Hashable, Sendable {
  /// Its name, such as `nfs`.
  package let name: String

  /// The kind of the file system of `path`, if the kernel reports only the changes of this machine there;
  /// `nil` for all others.
  package static func withoutEvents(at path: Path) -> FileSystemKind? {
    var found = statfs()
    guard path.withCString({ statfs($0, &found) }) == 0 else { return nil }
    let isLocal = found.f_flags & UInt32(MNT_LOCAL) != 0
    if isLocal { return nil }
    return withUnsafeBytes(of: &found.f_fstypename) { bytes in
      FileSystemKind(name: String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }
  }
}

#endif  // canImport(Darwin)
