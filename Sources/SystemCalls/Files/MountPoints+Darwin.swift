#if canImport(Darwin)

/// The mount points that this process sees.
package func mountPoints() -> [Path] {
  var table: UnsafeMutablePointer<statfs>?
  let count = getmntinfo(&table, MNT_NOWAIT)
  guard let table, count > 0 else { return [] }
  return (0..<Int(count)).map { index in
    withUnsafeBytes(of: &table[index].f_mntonname) { Path(bytes: Array($0.prefix { $0 != 0 })) }
  }
}

/// The name of the file system on which an existing path lies, such as `apfs`.
package func fileSystemName(at path: Path) -> String? {
  var found = statfs()
  guard path.withCString({ statfs($0, &found) }) == 0 else { return nil }
  return withUnsafeBytes(of: &found.f_fstypename) { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

#endif  // canImport(Darwin)
