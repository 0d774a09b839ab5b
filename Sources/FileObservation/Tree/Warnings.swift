import SystemCalls

/// Warnings that were not reported yet. An unreadable path is reported once.
struct Warnings {
  private var pending: [ObserverWarning] = []
  private var unreadable: Set<Path> = []
  private var isLimitReached = false

  mutating func add(_ warning: ObserverWarning) {
    pending.append(warning)
  }

  /// Adds a warning of a path that cannot be read.
  mutating func add(unreadable warning: ObserverWarning) {
    if let path = warning.path, unreadable.insert(path).inserted { add(warning) }
  }

  /// Sets whether the watch limit is reached. Returns whether a warning is due: it was not reached
  /// before.
  mutating func setLimitReached(_ isReached: Bool) -> Bool {
    defer { isLimitReached = isReached }
    return isReached && !isLimitReached
  }

  mutating func take() -> [ObserverWarning] {
    defer { pending = [] }
    return pending
  }
}
