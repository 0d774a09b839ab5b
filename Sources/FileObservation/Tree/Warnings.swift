import SystemCalls

/// Warnings that were not reported yet. A path that cannot be read is reported once.
struct Warnings {
  private var pending: [ObserverError] = []
  private var unreadable: Set<Path> = []

  mutating func add(_ warning: ObserverError) {
    pending.append(warning)
  }

  mutating func add(unreadableDirectory path: Path, _ error: SystemError) {
    if unreadable.insert(path).inserted { add(.unreadableFolder(path, error)) }
  }

  mutating func add(unreadableRules error: SystemError) {
    guard let path = error.path else { return }
    if unreadable.insert(path).inserted { add(.unreadableRules(error)) }
  }

  mutating func take() -> [ObserverError] {
    defer { pending = [] }
    return pending
  }
}
