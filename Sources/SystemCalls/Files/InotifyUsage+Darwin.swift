#if canImport(Darwin)

extension InotifyUsage {
  /// The present usage by other processes; `nil` where there is no inotify.
  package static func current() -> InotifyUsage? { nil }
}

#endif  // canImport(Darwin)
