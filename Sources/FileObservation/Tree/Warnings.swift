import SystemCalls

/// Warnings that were not reported yet. An unreadable path is reported once.
struct Warnings {
  private var pending: [ObserverWarning] = []
  private var unreadable: Set<Path> = []
  private var isLimitReached = false

  mutating func add(_ warning: ObserverWarning) {
    pending.append(warning)
  }

  mutating func add(unreadableDirectory path: Path, _ error: SystemError) {
    if unreadable.insert(path).inserted { add(.unreadableDirectory(path, error)) }
  }

  mutating func add(unreadableIgnoreFile error: SystemError) {
    guard let path = error.path else { return }
    if unreadable.insert(path).inserted { add(.unreadableIgnoreFile(error)) }
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
