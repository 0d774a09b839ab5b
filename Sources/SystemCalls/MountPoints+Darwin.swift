#if canImport(Darwin)

/// Where file systems are mounted, as this process sees it.
package func mountPoints() -> [Path] {
  var table: UnsafeMutablePointer<statfs>?
  let count = getmntinfo(&table, MNT_NOWAIT)
  guard let table, count > 0 else { return [] }
  return (0..<Int(count)).map { index in
    withUnsafeBytes(of: &table[index].f_mntonname) { Path(bytes: Array($0.prefix { $0 != 0 })) }
  }
}

#endif  // canImport(Darwin)
