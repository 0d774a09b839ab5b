/// When directories that could not be examined are examined again: soon, and less and less often while
/// that fails, since it may fail for ever.
struct ExaminationPacing {
  private static let first = Duration.milliseconds(100)
  private static let longest = Duration.seconds(10)

  private var delay = first
  private var isPlanned = false

  /// Returns after what time directories must be examined, unless that is planned already or not needed.
  mutating func plan(isNeeded: Bool) -> Duration? {
    if isPlanned { return nil }
    guard isNeeded else {
      delay = Self.first
      return nil
    }
    isPlanned = true
    defer { delay = min(delay * 2, Self.longest) }
    return delay
  }

  mutating func begin() { isPlanned = false }
}
