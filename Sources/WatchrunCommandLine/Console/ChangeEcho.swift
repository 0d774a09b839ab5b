import SystemCalls

/// Tells apart the changes that messages about changes make: a reader of the messages may write them into a watched
/// file, as in `watchrun -v make 2>&1 | tee log`. A pure state machine.
struct ChangeEcho: Sendable {
  /// How soon after a message its reader has written it, and the change is reported.
  static let time = Duration.seconds(1)

  /// What was said about changes, with nothing else since.
  private var lines: Set<String> = []
  private var saidAt = Instant(offset: .zero)

  mutating func reset() { lines = [] }

  /// Whether all this was said shortly before, and nothing else since. To say it again would go on for ever.
  mutating func isEcho(_ batch: [String], at now: Instant) -> Bool {
    if saidAt.duration(to: now) < Self.time, lines.isSuperset(of: batch) { return true }
    if saidAt.duration(to: now) >= Self.time { lines = [] }
    lines.formUnion(batch)
    saidAt = now
    return false
  }
}
