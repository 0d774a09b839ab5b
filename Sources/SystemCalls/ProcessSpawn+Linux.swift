#if os(Linux)

extension SpawnRequest {
  /// Which of the attributes that are set count.
  static let systemFlags = Int16(
    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
}

extension sigaction {
  /// True if the signal is ignored.
  var isIgnore: Bool {
    unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

extension Signal {
  /// Makes it ready to be handled by a Dispatch source. A source takes the signal over by itself here,
  /// and to ignore it would silence the source.
  package func prepareForSource() {}
}

#endif  // os(Linux)
