import SystemCalls

/// Warnings that were not reported yet. An unreadable path is reported once.
struct Warnings {
  private var pending: [ObserverWarning] = []
  private var unreadable: Set<Path> = []

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

  mutating func take() -> [ObserverWarning] {
    defer { pending = [] }
    return pending
  }
}
