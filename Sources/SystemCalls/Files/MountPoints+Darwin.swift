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

#endif  // canImport(Darwin)
