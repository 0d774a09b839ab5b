#if canImport(Darwin)

/// A kind of file system whose files others change as well, of which the kernel hears nothing.
package struct FileSystemKind: Hashable, Sendable {
  /// What it is called, such as `nfs`.
  package let name: String

  /// The kind of the file system on which `path` lies, if it is one on which the kernel tells only
  /// of what this machine does; nil for all others.
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
