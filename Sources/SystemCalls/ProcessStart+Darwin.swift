#if canImport(Darwin)

extension FileTime {
  /// What a file changed just after this process began is stamped with, at the earliest. Here that
  /// is the present: what was changed while the program was loaded is not told apart from earlier.
  package static func processStart() -> FileTime {
    .now()
  }
}

#endif  // canImport(Darwin)
