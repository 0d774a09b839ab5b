#if canImport(Darwin)

extension FileTime {
  /// The earliest timestamp of a file that counts as changed after this process was started. Here that is
  /// the present: changes while the program was loaded are not recognised.
  package static func processStart() -> FileTime {
    .now()
  }
}

#endif  // canImport(Darwin)
