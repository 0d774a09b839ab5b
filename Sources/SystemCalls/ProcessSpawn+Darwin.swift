#if canImport(Darwin)

extension SpawnRequest {
  /// Which of the attributes that are set count, and that no other descriptors are inherited.
  static let systemFlags = Int16(
    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
      | POSIX_SPAWN_CLOEXEC_DEFAULT)
}

extension sigaction {
  /// True if the signal is ignored.
  var isIgnore: Bool {
    unsafeBitCast(__sigaction_u.__sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

extension Signal {
  /// Makes it ready to be handled by a Dispatch source, which sees it beside the action that is in
  /// force: so that must be none.
  package func prepareForSource() {
    ignore()
  }
}

#endif  // canImport(Darwin)
