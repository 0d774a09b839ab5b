import SystemCalls

/// The line between two rounds at a terminal, with the time of day.
struct RoundRule {
  let hour: Int
  let minute: Int
  let second: Int

  /// The local time.
  static var now: RoundRule {
    var (time, parts) = (time(nil), tm())
    localtime_r(&time, &parts)
    return RoundRule(
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
  }

  /// The widest one. A narrower terminal has a shorter line, which does not wrap.
  static let width = 60

  func text(columns: Int) -> String {
    let clock = [hour, minute, second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    let start = "── \(clock) "
    return start + String(repeating: "─", count: max(0, min(columns, Self.width) - start.count))
  }
}
